# Checks the order of arguments that docs/options.md promises: of each public function in the headers that it reads, the callables come
# first, then operands, outputs, options, and the environment.
#
# A parameter is a callable by its name, an output if its function ends in _into and may write it, options and environment by their types.
# The script relies on the format of the headers, as scripts/public-names does.
BEGIN {
    split("a callable|an operand|an output|an option|environment", kinds, "|")
    split("body body_vjp op reduce score then_branch then_vjp else_branch else_vjp function kind name", names)
    for (i in names)
        is_callable[names[i]] = 1
    # Written, but operands: what a function updates in place.
    split("states data x past_cache", names)
    for (i in names)
        is_in_place[names[i]] = 1
}

FNR == 1 { depth = 0; text = "" }
/^(inline )?namespace / {
    sub(/::inline XLOOM_ABI/, "")
    space[++depth] = $2
    next
}
/^} \/\/ namespace/ { --depth; next }
depth != 1 || space[1] != "xloom" || /^ *\/\// { next }
/^(template|requires|class|struct|enum|concept|using|inline constexpr bool|[{}#])/ || /^$/ { text = ""; next }
/^[a-z]/ { text = $0 }
/^ / && text != "" { text = text $0 }
text ~ /\)( noexcept)?( *->.*)?$/ {
    gsub(/[ \t]+/, " ", text)
    while (gsub(/<[^<>]*>/, "", text)) # template arguments have commas, too
        ;
    if (match(text, /[ &*][a-z_0-9]+\(/))
        check(substr(text, RSTART + 1, RLENGTH - 2), substr(text, RSTART + RLENGTH))
    text = ""
}

function kind_of(type, name, function_name) {
    if (type ~ /^Env( const)?(&&?)?\.\.\.$/)
        return 5
    if (type ~ /(_options|checkpoint) const&$/ || type ~ /^(Options|Start)&&$/)
        return 4
    if (name in is_callable)
        return 1
    if (function_name ~ /_into$/ && !(name in is_in_place) && (type ~ /&&$/ || type ~ /[^t]&$/ || type ~ /(outputs|gradients) const&$/))
        return 3
    return 2
}

function check(name, parameters,    list, count, i, before, kind, type, parameter) {
    sub(/\)[^)]*$/, "", parameters)
    sub(/^.*include\//, "", FILENAME)
    ++functions
    if (name ~ /^if_/)
        sub(/^[^,]*, /, "", parameters) # the condition
    count = split(parameters, list, /, /)
    before = 1
    for (i = 1; i <= count; ++i) {
        sub(/ = .*/, "", list[i])
        type = parameter = list[i]
        sub(/.* /, "", parameter)
        sub(/ [a-z_A-Z0-9]+$/, "", type)
        kind = parameter == "residuals" ? before : kind_of(type, parameter, name) # written forward, read backward
        if (kind < before) {
            print FILENAME ": " name ": " parameter ", " kinds[kind] ", comes after " kinds[before]
            ++faults
        }
        before = kind
    }
}

END {
    print functions + 0 " functions, " faults + 0 " arguments out of order"
    exit faults > 0 || functions == 0
}
