# single_include/xloom/xloom.hpp is what scripts/single-include makes of include/ as it is now.

set(committed ${SOURCE_DIR}/single_include/xloom/xloom.hpp)
execute_process(COMMAND ${SOURCE_DIR}/scripts/single-include ${MADE} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${committed} ${MADE} RESULT_VARIABLE differs ERROR_QUIET)
if(differs)
  message(FATAL_ERROR "single_include/ is older than include/. Run scripts/single-include and commit what it writes.")
endif()
