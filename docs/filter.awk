# What Doxygen reads in place of a header: the same, with its comments in Doxygen's words.
#
#   /// Shapes    a heading of the house's            becomes a paragraph of that title
#   ///     y[t] = x[t]                               becomes a block of pseudo-code, uncoloured
#   namespace xloom::inline XLOOM_ABI { ... }         is xloom, and belongs to the group of the operator that the file is about

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
BEGIN {
    headings = "^ (Shapes|Types|Options|Score|Reduce|Policy|Errors|Order|Max error|Cost|Real time|Special|" \
               "Aliasing|Threads|Differs|Source|Example)( |$)"
    belong("activations", "core/activation")
    belong("attn_lstm", "recurrent/attention_score recurrent/attn_lstm_run")
    belong("loop", "scan/loop_control")
    belong("lstm", "recurrent/batch_run")
    belong("scan", "scan/scan_body scan/step")
    belong("scatter_nd", "core/reduction")
    belong("storage_types", "core/cast core/element_type_of core/float_format core/float_rounding core/small_float core/small_int")
}

function is_there(operator,    rooms, list, i, file, line, found) {
    split("control_flow indexing parallel recurrent gradients ranks", list, " ")
    for (i in list) {
        file = "include/xloom/" list[i] "/" operator ".hpp"
        found = found || (getline line <file) > 0
        close(file)
    }
    return found
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
        group = folder == "check" ? "core" : folder
}

# The words at the top of a public header introduce its group.
is_operator && !introduced && /^\/\// {
    if (!opened++)
        print "/// @defgroup " name " " name "\n/// @brief"
    print "/// " plain(substr($0, 4))
    next
}
opened && !introduced {
    introduced = 1
    print "/// @code{.cpp}\n/// #include <xloom/" path ">\n/// @endcode"
}

/namespace xloom::inline XLOOM_ABI/ { sub(/::inline XLOOM_ABI/, "") }
/^namespace xloom \{/ { print; print "/// @addtogroup " group; print "/// @{"; next }
/^} \/\/ namespace xloom$/ { print "/// @}"; print; next }

/^ *\/\/\// {
    match($0, /^ *\/\/\//)
    slashes = substr($0, 1, RLENGTH)
    text = substr($0, RLENGTH + 1)
    if (text ~ /^ ```/)
        fenced = !fenced
    if (fenced || text ~ /^ ```/) {
        print
    } else if (text ~ /^     / && (in_code || blank)) {
        if (!in_code)
            print slashes " @code{.unparsed}"
        in_code = 1
        print slashes text
    } else {
        if (in_code)
            print slashes " @endcode"
        in_code = 0
        if (match(text, headings)) {
            heading = substr(text, 2, RLENGTH - 1)
            sub(/ $/, "", heading)
            print slashes " @par " heading
            text = " " substr(text, RLENGTH + 1)
        }
        sub(/^ */, " ", text)
        print slashes plain(text)
    }
    blank = text ~ /^ *$/
    next
}
in_code { in_code = 0; print "/// @endcode" }

# Deduction guides tell a reader nothing.
/^template / { held = $0; next }
/^[a-z_]+\(.*\) -> .*;$/ { held = ""; next }
held != "" { print held; held = "" }
{ print }
