# Checks the words of SOURCE_DIR:
#
#     everywhere          no paraphrase of a term; CONTRIBUTING.md says which term to use
#     code                no identifier that is such a paraphrase
#     documentation (///) the first sentence of a block has a subject or a verb
#     headers             the comment below #pragma once begins with a noun phrase
#
# Read are comments and string literals of C++ (errors, names of test cases), also in blocks of code, the prose of the pages, and the comments
# of scripts and of the other languages. The rules on how a block begins are for include/. Words in `backticks` are no prose.

cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/faults.cmake)

set(phrases
  "goes home" "go home" "lies?" "side by side" "far away" "ask(ed|s) for" "the way back" "the door"
  "of which nobody" "come(s)? into question" "guilty" "laws?" "so many" "meets?" "left out"
  "at last" "verdicts?" "the judge" "judged by" "stood there" "you promise" "for a while" "tracked" "mutated elsewhere" "goes on behind"
  "behind (it|its|them|their|which|each other|the (operands?|options?|outputs?|inputs?|states?|residuals|body|batch|axis|end|last|first|loop|policy))"
  "(the|its) begin" "leave (it|them) out"
  "(for|of) (its|their) turn" "walked together" "done side" "as [a-z] has it")
# Names that were replaced, whole or as a part between underscores.
set(names
  "verdicts?" "judged" "laws?" "guilty" "tracked" "tracking" "hidden_(states?|cells?)" "placed_operands?" "places_of" "place_in_time"
  "named_(places?|slices|here)" "held_pack" "like_pack" "run_hidden" "share_of" "block_at" "unpacked_panels" "(a|b|c|row|column|gate|sums|key|value)_steps?"
  "all_reduce_gradients" "holds_input" "(state|output|channel|step)_letters")
list(JOIN names "|" name)
set(headless "(What|Whether|Where|How many|How much|Which|Is|Are|Do|Does|May|Must|Those|Of|The same)")

set(blocks 0)

# Reports the phrases of `text`, which begins at line `line` of `path`.
function(check_phrases path line text)
  math(EXPR count "${blocks} + 1")
  string(REGEX REPLACE "`[^`]*`" "" prose "${text}")
  string(TOLOWER " ${prose} " prose)
  string(REGEX REPLACE "[^a-z]+" " " prose "${prose}")
  string(REPLACE " amdahl s law " " " prose "${prose}") # a term
  foreach(phrase IN LISTS phrases)
    if(prose MATCHES " (${phrase}) ")
      fault("${path}:${line}: \"${CMAKE_MATCH_1}\"")
    endif()
  endforeach()
  set(faults ${faults} PARENT_SCOPE)
  set(blocks ${count} PARENT_SCOPE)
endfunction()

# Reports the phrases of a line of code, of its comment and its string literals, and the identifiers that are `names`.
function(check_code path line code)
  set(text "")
  string(REGEX MATCHALL "\"[^\"]* [^\"]*\"" literals "${code}")
  if(code MATCHES "^(.*[ \t])?//[/<]*(.*)$")
    set(code "${CMAKE_MATCH_1}")
    set(text "${CMAKE_MATCH_2}")
  endif()
  string(REGEX REPLACE "\"[^\"]*\"" "" code " ${code} ")
  if(code MATCHES "[^A-Za-z0-9](${name})[^A-Za-z0-9]")
    fault("${path}:${line}: ${CMAKE_MATCH_1}")
  endif()
  string(APPEND text " ${literals}")
  if(NOT text STREQUAL " ")
    check_phrases(${path} ${line} "${text}")
  endif()
  set(faults ${faults} PARENT_SCOPE)
  set(blocks ${blocks} PARENT_SCOPE)
endfunction()

# The lines of a file as a list.
function(read_lines path result)
  read_text(${SOURCE_DIR}/${path} text)
  string(REPLACE "\n" ";" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Joins the lines of a comment or paragraph to `block`, and checks it where it ends.
macro(end_block)
  if(NOT block STREQUAL "")
    check_phrases(${path} ${begin} "${block}")
  endif()
  set(block "")
endmacro()
macro(add_to_block text)
  if(block STREQUAL "")
    set(begin ${number})
  endif()
  string(APPEND block " ${text}")
endmacro()

set(sources "")
foreach(folder include src tools tests examples benchmarks)
  file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/${folder}/*.hpp ${SOURCE_DIR}/${folder}/*.cpp)
  list(APPEND sources ${files})
endforeach()
foreach(path IN LISTS sources)
  string(REGEX MATCH "^include/" is_documented "${path}")
  read_lines(${path} lines)
  set(number 0)
  set(block "")
  set(marker "")
  set(is_code FALSE)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "^ *(///?)( (.*))?$")
      set(before "${marker}")
      set(marker ${CMAKE_MATCH_1})
      set(text "${CMAKE_MATCH_3}")
      if(text MATCHES "^```")
        if(is_code)
          set(is_code FALSE)
        else()
          set(is_code TRUE)
        endif()
      elseif(is_code)
        check_code(${path} ${number} "${text}")
      else()
        if(NOT marker STREQUAL before)
          end_block()
          if(is_documented AND (marker STREQUAL "///" OR number EQUAL 2) AND text MATCHES "^${headless} ")
            fault("${path}:${number}: begins with \"${CMAKE_MATCH_1}\"")
          endif()
        endif()
        add_to_block("${text}")
      endif()
    else()
      end_block()
      set(marker "")
      check_code(${path} ${number} "${line}")
    endif()
  endforeach()
  end_block()
endforeach()

file(GLOB pages RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/README.md ${SOURCE_DIR}/CONTRIBUTING.md ${SOURCE_DIR}/CHANGELOG.md ${SOURCE_DIR}/docs/*.md
  ${SOURCE_DIR}/packaging/*.md ${SOURCE_DIR}/.github/*.md)
foreach(path IN LISTS pages)
  read_lines(${path} lines)
  set(number 0)
  set(block "")
  set(is_code FALSE)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "^ *```")
      if(is_code)
        set(is_code FALSE)
      else()
        set(is_code TRUE)
      endif()
      end_block()
    elseif(line MATCHES "^ *$")
      end_block()
    elseif(is_code OR line MATCHES "^    ")
      check_code(${path} ${number} "${line}")
    else()
      add_to_block("${line}")
    endif()
  endforeach()
  end_block()
endforeach()

# Comments of scripts and other languages; tests/repo has the phrases themselves.
file(GLOB_RECURSE scripts RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/scripts/* ${SOURCE_DIR}/packaging/debian/* ${SOURCE_DIR}/.github/*.yml
  ${SOURCE_DIR}/cmake/*.cmake ${SOURCE_DIR}/benchmarks/*.py
  ${SOURCE_DIR}/src/CMakeLists.txt ${SOURCE_DIR}/tests/CMakeLists.txt ${SOURCE_DIR}/tools/CMakeLists.txt ${SOURCE_DIR}/examples/CMakeLists.txt)
list(FILTER scripts EXCLUDE REGEX "^tests/repo/")
foreach(path IN LISTS scripts)
  read_lines(${path} lines)
  set(number 0)
  set(block "")
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "^ *# (.*)$")
      add_to_block("${CMAKE_MATCH_1}")
    else()
      end_block()
    endif()
  endforeach()
  end_block()
endforeach()

if(faults GREATER 0 OR blocks EQUAL 0)
  message(FATAL_ERROR "${faults} findings in ${blocks} blocks of comments and prose")
endif()
message("${blocks} blocks of comments and prose have none of the phrases")
