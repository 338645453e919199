# What Doxygen reads in place of a page: the same, with its links and pictures in Doxygen's words.
#
#   ## Many threads                 gets the anchor that GitHub gives it, #many-threads, and the page a table of contents; in index.md, whose
#                                   groups are those of the navigation, a heading is no section
#   [words](ranks.md#many-threads)  leads there
#   ![words](gallery/loop.svg)      names a picture as Doxygen does, which finds it by its name

FNR == 1 {
    page = FILENAME
    sub(/.*\//, "", page)
    sub(/\.md$/, "", page)
    print
    if (page != "index")
        print "\n[TOC]"
    next
}
/^ *```/ { fenced = !fenced }
!fenced && /^##+ / {
    title = $0
    sub(/^##+ /, "", title)
    if (page == "index") {
        print "<h2>" title "</h2>"
        next
    }
    slug = tolower(title)
    gsub(/[^a-z0-9 _-]/, "", slug)
    gsub(/ /, "-", slug)
    print $0 " {#" page "_" slug (count[slug] ? "-" count[slug] : "") "}"
    count[slug]++
    next
}
!fenced {
    gsub(/\]\((\.\.\/benchmarks|gallery)\//, "](")
    while (match($0, /\]\([a-z_]*(\.md)?#[a-z0-9_-]+\)/)) {
        link = substr($0, RSTART + 2, RLENGTH - 3)
        sub(/^#/, page "_", link) # on this page
        sub(/\.md#/, "_", link)
        $0 = substr($0, 1, RSTART + 1) "@ref " link substr($0, RSTART + RLENGTH - 1)
    }
}
{ print }
