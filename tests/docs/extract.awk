# Makes test cases of the C++ in pages and in comments:
#
#   awk -v root=DIR/ -v output=cases.cpp -f extract.awk FILES...
#
# What is fenced as ```cpp counts, after /// in a header. All blocks below one heading of a page are one test case, so that a block knows
# the names of those before it; in a comment each block is one. A block that begins with #include, namespace, template or struct stands
# outside functions, in front. A program with a main() of its own is README's alone: repo/readme runs it.
#
#   expression; // = [1, 2]                    what is printed of the expression
#   expression; // throws xloom::shape_error   what it throws; lines of comment that follow are the text

function finish_throw() {
    if (thrown == "")
        return
    if (message == "")
        text = text "    CHECK_THROWS_AS((void)(" thrown "), " type ");\n"
    else
        text = text "    CHECK_THROWS_WITH_AS((void)(" thrown "), \"" message "\", " type ");\n"
    text = text "#line " FNR " \"" FILENAME "\"\n"
    thrown = message = ""
}
function finish_case() {
    if (body != "")
        printf "TEST_CASE(\"%s\")\n{\n%s}\n\n", place, body >output
    body = ""
}
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return text
}
function fail(text) {
    print FILENAME ":" FNR ": " text >"/dev/stderr"
    failed = 1
    exit 1
}

BEGIN { print "#include \"docs/printed.hpp\"\n\n#include <xloom/interop/dlpack.hpp>\n#include <xloom/interop/eigen.hpp>\n#include <xloom/interop/tbb.hpp>\n#include <xloom/xloom.hpp>\n" >output }

FNR == 1 {
    if (inside)
        fail("the file before ends inside a block")
    finish_case()
    is_page = FILENAME ~ /\.md$/
    shown = substr(FILENAME, length(root) + 1)
}
{ line = $0 }
!is_page && !sub(/^ *\/\/\/ ?/, "", line) {
    if (inside)
        fail("a comment ends inside a block")
    next
}
line ~ /^ *```/ && inside {
    if (statement != "")
        fail("the block ends inside a statement")
    finish_throw()
    ++blocks
    if (outside) {
        printf "%s\n", text >output
    } else if (is_program) {
        if (shown != "README.md")
            fail("a program with a main() of its own, which nothing runs")
    } else {
        body = body text
    }
    if (!is_page)
        finish_case()
    inside = 0
    next
}
line ~ /^ *```/ && !in_other {
    inside = line ~ /^ *```cpp$/
    in_other = !inside
    text = ""
    outside = is_program = 0
    first = 1
    if (inside && body == "")
        place = shown ":" FNR
    next
}
line ~ /^ *```/ {
    in_other = 0
    next
}
!inside {
    if (is_page && !in_other && line ~ /^#/)
        finish_case()
    next
}

# Inside a block.
first {
    first = 0
    outside = line ~ /^(#include|namespace|template|struct)/
    text = "#line " FNR " \"" FILENAME "\"\n"
}
line ~ /^int main\(/ {
    is_program = 1
    outside = 0
}
thrown != "" && line ~ /^ *\/\/ / {
    sub(/^ *\/\/ /, "", line)
    message = message (message == "" ? "" : " ") quoted(line)
    next
}
thrown != "" { finish_throw() }
match(line, /; *\/\/ = /) {
    text = text "    DOCS_SHOWS(\"" quoted(substr(line, RSTART + RLENGTH)) "\", " statement substr(line, 1, RSTART - 1) ");\n"
    statement = ""
    next
}
match(line, /; *\/\/ throws /) {
    thrown = statement substr(line, 1, RSTART - 1)
    type = substr(line, RSTART + RLENGTH)
    statement = ""
    next
}
{ statement = statement line "\n" }
line ~ /([;{}]|\/\/.*)$/ || line ~ /^#/ || line == "" {
    text = text statement
    statement = ""
}

END {
    if (failed)
        exit 1
    if (inside)
        fail("the file ends inside a block")
    if (!blocks)
        fail("there is no block")
    finish_case()
    print blocks " blocks"
}
