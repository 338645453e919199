# Requires that OBJECT exports names that match TABLE and nothing else, and runs nothing when a program starts.

execute_process(COMMAND ${NM} --extern-only --defined-only ${OBJECT} OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
if(NOT names MATCHES "^([0-9a-f]+ [DR] ${TABLE}\n)+$")
  message(FATAL_ERROR "${OBJECT} exports more than ${TABLE}:\n${names}")
endif()
execute_process(COMMAND ${OBJDUMP} --section-headers ${OBJECT} OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
if(sections MATCHES "\\.(init_array|ctors|group)")
  message(FATAL_ERROR "${OBJECT} has a section ${CMAKE_MATCH_0}:\n${sections}")
endif()
