# What Doxygen reads in place of a header: the same, with its comments in Doxygen's words.
#
#   /// Shapes    a heading of these comments         becomes a paragraph of that title
#   ///     y[t] = x[t]                               becomes a block of pseudo-code, uncoloured
#   namespace xloom::inline XLOOM_ABI { ... }         is xloom, and belongs to the group of the operator that the file is about, or to those
#                                                     of the operators that the names begin with, such as lstm_options and infer_lstm
#   // Words at the top of a public header            introduce its group, which belongs to the group of its folder
#
# and docs/groups.dox, the groups of the folders. Each group says since when it is there.

function plain(text) { # what Doxygen would take for a tag, a command or a link is text
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    gsub(/[@\\#]/, "\\\\&", text)
    return text
}

# Files below folders that are part of an operator under another name than theirs.
function belong(group_name, files,    list, i) {
    split(files, list, " ")
    for (i in list)
        group_of[list[i] ".hpp"] = group_name
}
function since(name) { # a group that comes later than the first release is listed here
    return "0.1.0"
}
BEGIN {
    headings = "^ (Operator|Members|Shapes|Types|Options|Score|Reduce|Axis|Policy|Workspace|Special|NaN|Errors|Order|" \
               "Max error|Cost|Real time|Aliasing|Threads|Differs|Source|Example)( |$)"
    topic_of["check"] = topic_of["core"] = "types"
    topic_of["indexed"] = "indexing"
    topic_of["prefix"] = "parallel"
    belong("activations", "core/activation")
    belong("associative_scan", "core/monoid")
    belong("attn_lstm", "recurrent/attention_score")
    belong("infer", "core/partial_type")
    belong("interop", "core/policy")
    belong("loop", "core/loop_options scan/loop_control")
    belong("ranks", "core/communicator core/distributed_axis")
    belong("scan_lanes", "scan/lane_functions scan/lane_operands scan/lane_scan scan/lanes")
    belong("scan_vjp", "core/checkpoint scan/cotangents scan/recorded_vjp scan/residuals")
    belong("scatter_nd", "core/reduction")
    belong("scatter_nd_vjp", "check/indexed_vjp")
    belong("storage_types", "core/cast core/element_type_of core/float_format core/float_rounding core/small_float core/small_int")
}

function is_there(operator,    topics, list, i, file, line) {
    if (!(operator in known)) {
        known[operator] = 0
        split("control_flow indexing parallel recurrent gradients ranks", list, " ")
        for (i in list) {
            file = "include/xloom/" list[i] "/" operator ".hpp"
            if ((getline line <file) > 0)
                known[operator] = 1
            close(file)
        }
    }
    return known[operator]
}

# The group of a declaration, by the longest operator that its name begins with.
function group_by_name(declaration,    name) {
    if (!is_shared)
        return group
    if (match(declaration, /(struct|class|concept|using) [a-z][a-z0-9_]*/)) {
        name = substr(declaration, RSTART, RLENGTH)
        sub(/.* /, "", name)
    } else if (match(declaration, /[a-z][a-z0-9_]*\(/))
        name = substr(declaration, RSTART, RLENGTH - 1)
    sub(/^infer_/, "", name)
    while (name != "" && !is_there(name))
        if (!sub(/_[a-z0-9]*$/, "", name))
            name = ""
    return name == "" ? group : name
}

# A comment is held until its declaration shows where it belongs.
function write(line) {
    if (is_held)
        held_lines = held_lines line "\n"
    else
        print line
}
function release(declaration,    wanted) {
    wanted = group_by_name(declaration)
    if (wanted != current)
        print "/// @}\n/// @addtogroup " wanted "\n/// @{\n"
    current = wanted
    if (match(declaration, /^concept [a-z_]+/)) # has a page of its own
        held_lines = held_lines "///\n/// @since " since(substr(declaration, 9, RLENGTH - 8)) "\n"
    printf "%s", held_lines
    held_lines = ""
    is_held = 0
}

# The group of the file: its operator's, else its folder's.
FNR == 1 {
    path = FILENAME
    sub(/.*include\/xloom\//, "", path)
    is_detail = sub(/^detail\//, "", path)
    folder = path ~ /\// ? substr(path, 1, index(path, "/") - 1) : ""
    is_operator = !is_detail && folder != "" && folder != "infer"
    name = path
    sub(/.*\//, "", name)
    sub(/\.hpp$/, "", name)
    if (path in group_of)
        group = group_of[path]
    else if (is_operator || (folder ~ /^(check|infer)$/ && is_there(name)))
        group = name
    else
        group = folder in topic_of ? topic_of[folder] : folder
    is_shared = !is_operator && !(path in group_of)
}
path ~ /[.]dox$/ { # the groups of the folders
    print
    if (/^@defgroup/)
        defined = $2
    else if (/^@brief/)
        print "@since " since(defined)
    next
}

# The words at the top of a public header introduce its group.
is_operator && !introduced && /^\/\// {
    if (!opened++)
        print "/// @defgroup " name " " name "\n/// @ingroup " folder "\n/// @brief"
    print "/// " plain(substr($0, 4))
    next
}
opened && !introduced {
    introduced = 1
    print "/// @code{.cpp}\n/// #include <xloom/" path ">\n/// @endcode\n/// @since " since(name)
}

/namespace xloom::inline XLOOM_ABI/ { sub(/::inline XLOOM_ABI/, "") }
/^namespace xloom \{/ { print; print "/// @addtogroup " group; print "/// @{"; current = group; is_open = 1; next }
/^} \/\/ namespace xloom$/ { print "/// @}"; print; is_open = 0; next }
/^namespace / { is_open = 0 } # detail
/^} \/\/ namespace / { is_open = 1 }

/^ *\/\/\// {
    if (is_open && /^\/\/\//)
        is_held = 1
    match($0, /^ *\/\/\//)
    slashes = substr($0, 1, RLENGTH)
    text = substr($0, RLENGTH + 1)
    if (text ~ /^ ```/)
        fenced = !fenced
    if (fenced || text ~ /^ ```/) {
        write($0)
    } else if (text ~ /^     / && (in_code || blank)) {
        if (!in_code)
            write(slashes " @code{.unparsed}")
        in_code = 1
        write(slashes text)
    } else {
        if (in_code)
            write(slashes " @endcode")
        in_code = 0
        if (match(text, headings)) {
            heading = substr(text, 2, RLENGTH - 1)
            sub(/ $/, "", heading)
            write(slashes " @par " heading)
            text = " " substr(text, RLENGTH + 1)
        }
        sub(/^ */, " ", text)
        write(slashes plain(text))
    }
    blank = text ~ /^ *$/
    after_comment = 1
    next
}
in_code { in_code = 0; write("/// @endcode") }

# A friend has no place on the page of a group: one with a comment is shown as a member, the others are not.
/^ +friend / && after_comment { sub(/friend /, "") }
/^ +friend / {
    match($0, /^ +/)
    friend_end = "^" substr($0, 1, RLENGTH) "}"
    in_body = 0
}
{ after_comment = 0 }
friend_end != "" {
    if (/[{]/)
        in_body = 1
    if ($0 ~ friend_end || (!in_body && /;$/))
        friend_end = ""
    next
}

# Deduction guides, whose result may be on the next line, and forward declarations tell a reader nothing.
/^template / { template = $0; next }
/^[a-z_]+\([^;{)]*\)$/ { template = ""; next }
/^    -> .*;$/ { next }
/^[a-z_]+\(.*\) -> .*;$|^(struct|class) [a-z_]+;$/ { template = ""; next }
is_held && !/^( |requires)/ { release($0) }
template != "" { write(template); template = "" }
{ write($0) }
END {
    if (is_held)
        release("")
}
