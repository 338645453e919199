# Requires that DISPATCH prints at LEVEL what BUILT prints, which is compiled for that level alone.

execute_process(COMMAND ${CMAKE_COMMAND} -E env XLOOM_DISPATCH_LEVEL=${LEVEL} ${DISPATCH} OUTPUT_VARIABLE dispatched COMMAND_ERROR_IS_FATAL ANY)
if(dispatched MATCHES "the level must be one that")
  message("not run: this processor does not have ${LEVEL}")
  return()
endif()
execute_process(COMMAND ${BUILT} OUTPUT_VARIABLE built COMMAND_ERROR_IS_FATAL ANY)
if(NOT dispatched STREQUAL built OR NOT built MATCHES "activate 8 H 100 N 5")
  message(FATAL_ERROR "${LEVEL} has other bits:\n${dispatched}\nthan a program that is built for it:\n${built}")
endif()
