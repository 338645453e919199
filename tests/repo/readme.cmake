# README's program and its output are examples/first_scan, to the letter.

file(READ ${SOURCE_DIR}/README.md readme)
file(READ ${SOURCE_DIR}/examples/first_scan/main.cpp program)
string(FIND "${readme}" "```cpp\n${program}```" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not show examples/first_scan/main.cpp as it is")
endif()
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${readme}" "```\n${output}```" found)
if(NOT output OR found EQUAL -1)
  message(FATAL_ERROR "README.md does not show what examples/first_scan prints: ${output}")
endif()
