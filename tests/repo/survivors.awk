# Checks that each line of tests/mutation/survivors.tsv names a header below HEADERS and a line that it has.
BEGIN { FS = "\t" }
/^#/ || /^$/ { next }
{
    path = HEADERS "/" $1 ".hpp"
    while (!(path in is_read) && (getline line <path) > 0) {
        sub(/^ +/, "", line)
        has_line[path, line] = 1
    }
    is_read[path] = 1
    if (!((path, $2) in has_line)) {
        print $1 " has no line " $2
        ++faults
    }
    ++survivors
}
END {
    print survivors + 0 " survivors, " faults + 0 " without a line"
    exit faults > 0 || survivors == 0
}
