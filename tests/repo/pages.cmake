# Checks the pages below SOURCE_DIR:
#
#     README.md      at most 140 lines
#     *.md           each relative link and picture exists
#     the chart      benchmarks/ratios.tsv has at most 14 works, and benchmarks/ratios.svg shows their labels

cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/faults.cmake)

# The plain text of a page, with @(PATH) for links.
function(read_page path result)
  file(READ ${SOURCE_DIR}/${path} text)
  string(REPLACE "](" "@(" text "${text}")
  plain_text("${text}" text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
function(count_matches pattern text result)
  string(REGEX MATCHALL "${pattern}" matches "${text}")
  list(LENGTH matches count)
  set(${result} ${count} PARENT_SCOPE)
endfunction()

read_page(README.md readme)
count_matches("\n" "${readme}" lines)
if(lines GREATER 140)
  fault("README.md has ${lines} lines, more than 140")
endif()

set(links 0)
file(GLOB pages RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/*.md ${SOURCE_DIR}/docs/*.md ${SOURCE_DIR}/packaging/*.md ${SOURCE_DIR}/.github/*.md)
foreach(page IN LISTS pages)
  read_page(${page} text)
  string(REGEX REPLACE "```[^`]*```" "" text "${text}")
  string(REGEX REPLACE "`[^`]*`" "" text "${text}")
  string(REGEX MATCHALL "@\\([^)]*\\)" targets "${text}")
  get_filename_component(folder ${SOURCE_DIR}/${page} DIRECTORY)
  foreach(target IN LISTS targets)
    string(REGEX REPLACE "^@\\(([^)#]*).*\\)$" "\\1" path "${target}")
    if(path AND NOT path MATCHES "^[a-z]+:|^../../actions/") # which GitHub has
      math(EXPR links "${links} + 1")
      if(NOT EXISTS ${folder}/${path})
        fault("${page} links to ${path}, which there is not")
      endif()
    endif()
  endforeach()
endforeach()

file(READ ${SOURCE_DIR}/benchmarks/ratios.svg picture)
file(STRINGS ${SOURCE_DIR}/benchmarks/ratios.tsv works REGEX "^[^#]")
list(LENGTH works bars)
if(bars GREATER 14)
  fault("benchmarks/ratios.tsv has ${bars} works, more than 14")
endif()
foreach(work IN LISTS works)
  string(REGEX REPLACE ".*\t" "" label "${work}")
  string(FIND "${picture}" ">${label}<" found)
  if(found EQUAL -1)
    fault("benchmarks/ratios.svg has no bar \"${label}\"")
  endif()
endforeach()

if(faults GREATER 0 OR links EQUAL 0 OR bars EQUAL 0)
  message(FATAL_ERROR "${faults} faults in ${links} links and ${bars} bars")
endif()
message("${links} links and ${bars} bars agree; README.md has ${lines} lines")
