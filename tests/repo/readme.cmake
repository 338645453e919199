# README's program and its output are examples/first_scan, to the letter.

file(READ ${SOURCE_DIR}/README.md readme)
file(READ ${SOURCE_DIR}/examples/first_scan/main.cpp program)
string(FIND "${readme}" "```cpp\n${program}```" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not show examples/first_scan/main.cpp as it is")
endif()
file(READ ${SOURCE_DIR}/examples/first_scan/CMakeLists.txt expectation)
string(REGEX MATCH "PASS_REGULAR_EXPRESSION \"\\^([^\\\\]*)\\\\n" match "${expectation}")
string(FIND "${readme}" "```\n${CMAKE_MATCH_1}\n```" found)
if(NOT CMAKE_MATCH_1 OR found EQUAL -1)
  message(FATAL_ERROR "README.md does not show the output that examples/first_scan is tested for")
endif()
