# Checks the subjects of the commits after 482a8a5: at most 72 characters, and no full stop at the end. They are the lines of the file
# SUBJECTS if it is given, else those of SOURCE_DIR's history. A tree without that history (exported, or a shallow clone) is not
# checked, and the output says so.

cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/faults.cmake)

if(DEFINED SUBJECTS)
  read_text(${SUBJECTS} subjects)
else()
  find_program(git git)
  set(is_there FALSE)
  if(git)
    execute_process(COMMAND ${git} -C ${SOURCE_DIR} rev-parse --show-cdup RESULT_VARIABLE failed OUTPUT_VARIABLE up ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed EQUAL 0 AND up STREQUAL "") # SOURCE_DIR itself is the top of the repository
      execute_process(COMMAND ${git} -C ${SOURCE_DIR} merge-base --is-ancestor 482a8a5 HEAD RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(failed EQUAL 0)
        set(is_there TRUE)
      endif()
    endif()
  endif()
  if(NOT is_there)
    message(STATUS "skipped: ${SOURCE_DIR} does not have the history since 482a8a5")
    return()
  endif()
  execute_process(COMMAND ${git} -C ${SOURCE_DIR} log --no-merges --format=%s 482a8a5..HEAD OUTPUT_VARIABLE subjects
    COMMAND_ERROR_IS_FATAL ANY)
  plain_text("${subjects}" subjects)
endif()

string(STRIP "${subjects}" subjects)
string(REPLACE "\n" ";" subjects "${subjects}")
set(count 0)
foreach(subject IN LISTS subjects)
  math(EXPR count "${count} + 1")
  string(LENGTH "${subject}" length)
  if(length GREATER 72)
    fault("${length} characters: ${subject}")
  endif()
  if(subject MATCHES "\\.$")
    fault("ends with a full stop: ${subject}")
  endif()
endforeach()
if(faults GREATER 0)
  message(FATAL_ERROR "${faults} findings in ${count} subjects of commits")
endif()
message("${count} subjects of commits have at most 72 characters and no full stop at the end")
