# Compiles SOURCE with FLAGS and -DCASE and compares the errors with SENTENCE; an empty SENTENCE means that it must compile.

execute_process(COMMAND ${COMPILER} ${FLAGS} -fsyntax-only -DCASE=${CASE} ${SOURCE} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(SENTENCE STREQUAL "")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "The program without a mistake does not compile:\n${output}")
  endif()
  return()
endif()
if(status EQUAL 0)
  message(FATAL_ERROR "The mistake compiles.")
endif()
# A semicolon in a sentence would count as the end of a list item.
string(REPLACE ";" "," lines "${output}")
string(REGEX MATCHALL "[^\n]*error: [^\n]*" errors "${lines}")
list(LENGTH errors count)
string(FIND "${output}" "${SENTENCE}" found)
if(NOT count EQUAL 1 OR found EQUAL -1)
  message(FATAL_ERROR "Expected one error that says\n  ${SENTENCE}\nbut there are ${count}:\n${output}")
endif()
