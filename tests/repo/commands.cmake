# Each command of the pages below SOURCE_DIR is a lane of .github/workflows/ci.yml, or matches a line of the list below. Commands are the lines
# of blocks of sh, bash and console, and lines of other blocks and words in backticks that begin as commands do.

cmake_minimum_required(VERSION 3.22)

# A regular expression of commands, and what runs them: this test (run), a file that has the word (NAME is what the expression's group matched);
# or nothing (not), and why.
set(answers
  "scripts/test => .ci/run => scripts/test"
  "scripts/bench => .github/workflows/ci.yml => scripts/bench --quick"
  "scripts/bench ([a-z_]+)( generated_code)? => benchmarks/NAME.bench.cpp => main" # all of them are in the lane scripts/bench --quick
  "scripts/figures( --check)? => tests/repo/CMakeLists.txt => scripts/figures --check"
  "(scripts/bench && )?scripts/figures --keep NAME( && scripts/figures)? => not => it keeps a whole run on a quiet machine"
  "scripts/example => run"
  "scripts/example ([a-z_]+)( .*)? => .ci/run => NAME"
  "scripts/setup docs && scripts/docs => .github/workflows/ci.yml => scripts/docs"
  "scripts/matrix => .github/workflows/ci.yml => scripts/matrix gcc12-trixie" # and the others: tests/repo/ci.cmake
  "scripts/matrix --list => run"
  "scripts/onnx-compile( .*)? => scripts/wasm => scripts/onnx-compile"
  "tools/from_torch.py .* => tests/interop/from_torch_test.py => from_torch.main()"
  "scripts/bench --against HEAD~ scan => .github/workflows/ci.yml => scripts/bench --quick --against HEAD~ scan"
  "scripts/bench-jitter => .github/workflows/ci.yml => scripts/bench-jitter 10000"
  "scripts/real-models( --write)? => .github/workflows/ci.yml => scripts/real-models --quick"
  "scripts/real-models -O2 => .github/workflows/ci.yml => scripts/real-models -O2 hey_rhasspy"
  "scripts/onnx-run MODEL => tools/onnx/runner/CMakeLists.txt => ONNX_RUN_PROGRAM"
  "scripts/onnx-test DIR... => .github/workflows/ci.yml => scripts/onnx-test /usr/share/libonnx-testdata/data"
  "scripts/onnx-test --compiled .* => .github/workflows/ci.yml => scripts/onnx-test --compiled /usr/share/libonnx-testdata/data"
  "scripts/fuzz( operators| traineddata) => .github/workflows/ci.yml => NAME"
  "scripts/fuzz( --seconds 60)? => .ci/run => scripts/fuzz --seconds"
  "scripts/format => tests/repo/CMakeLists.txt => scripts/format --check"
  "scripts/public-names --write => tests/repo/CMakeLists.txt => scripts/public-names --check"
  "scripts/single-include => tests/repo/single_include.cmake => scripts/single-include"
  "scripts/compiler-explorer OWNER.* => tests/repo/compiler_explorer.py => scripts/compiler-explorer"
  "packaging/fill .* => tests/repo/packaging.cmake => packaging/fill"
  "scripts/debian-package => .github/workflows/ci.yml => scripts/debian-package --install-test"
  "git tag -s v0[.]1[.]0 => not => it needs a maintainer's key"
  "cmake .* && cmake --install build --prefix WHERE => tests/consumers/install.cmake => --install"
  "g[+][+] -std=c[+][+]20 -Isingle_include => tests/repo/compiler_explorer.py => ROOT / header"
  "g[+][+] -std=c[+][+]20 .* => tests/consumers/CMakeLists.txt => pkg_config"
  "arm-none-eabi-g[+][+] .* => scripts/microcontroller => arm-none-eabi-g++ -std=c++20"
  "scripts/test clang-diagnostics => not => scripts/test, with debug information")

include(${CMAKE_CURRENT_LIST_DIR}/faults.cmake)

file(STRINGS ${SOURCE_DIR}/.github/workflows/ci.yml lanes REGEX "^          - ")
list(TRANSFORM lanes REPLACE "^ *- " "")
set(commands 0)
set(used "")

# Checks that something runs `command` of `page`.
macro(check_command command)
  set(found FALSE)
  if("${command}" IN_LIST lanes)
    set(found TRUE)
  endif()
  foreach(answer IN LISTS answers)
    string(REPLACE " => " ";" parts "${answer}")
    list(POP_FRONT parts pattern where word)
    if(NOT found AND "${command}" MATCHES "^${pattern}$")
      set(found TRUE)
      list(APPEND used "${pattern}")
      string(REPLACE "NAME" "${CMAKE_MATCH_1}" path "${where}")
      string(REPLACE "NAME" "${CMAKE_MATCH_1}" word "${word}")
      set(text "")
      if(where STREQUAL "run")
        execute_process(COMMAND bash -c "${command}" WORKING_DIRECTORY ${SOURCE_DIR} RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
        if(NOT status EQUAL 0)
          fault("${page}: `${command}` fails")
        endif()
      elseif(NOT where STREQUAL "not")
        if(EXISTS ${SOURCE_DIR}/${path})
          file(READ ${SOURCE_DIR}/${path} text)
        endif()
        string(FIND "${text}" "${word}" position)
        if(position EQUAL -1)
          fault("${page}: `${command}` should be run by ${path}, which has no ${word}")
        endif()
      endif()
    endif()
  endforeach()
  if(NOT found)
    fault("${page}: nothing runs `${command}`: make it a lane of .github/workflows/ci.yml, or say in tests/repo/commands.cmake what does")
  endif()
  math(EXPR commands "${commands} + 1")
endmacro()

set(begins "(scripts/[a-z]|[.]ci/run|packaging/fill|cmake |ctest |git |g[+][+] -std)")
file(GLOB pages RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/*.md ${SOURCE_DIR}/docs/*.md ${SOURCE_DIR}/packaging/*.md ${SOURCE_DIR}/.github/*.md
  ${SOURCE_DIR}/examples/*/*.md)
list(REMOVE_ITEM pages CHANGELOG.md) # what ran once
foreach(page IN LISTS pages)
  read_text(${SOURCE_DIR}/${page} text)
  string(REPLACE "\n" ";" lines "${text}")
  set(language "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^ *```([a-z]*)")
      if(language STREQUAL "")
        set(language "code ${CMAKE_MATCH_1}")
      else()
        set(language "")
      endif()
    elseif(language MATCHES "^code (sh|bash|console)$" OR (language STREQUAL "code " AND line MATCHES "^${begins}")
        OR (language STREQUAL "" AND line MATCHES "^    ${begins}"))
      string(REGEX REPLACE " +#.*$" "" command "${line}")
      string(REGEX REPLACE "^[$] " "" command "${command}")
      string(STRIP "${command}" command)
      if(NOT command STREQUAL "")
        check_command("${command}")
      endif()
    elseif(language STREQUAL "")
      string(REGEX MATCHALL "`${begins}[^`]*`" spans "${line}")
      foreach(span IN LISTS spans)
        string(REPLACE "`" "" command "${span}")
        check_command("${command}")
      endforeach()
    endif()
  endforeach()
endforeach()
foreach(answer IN LISTS answers)
  string(REGEX REPLACE " => .*" "" pattern "${answer}")
  if(NOT pattern IN_LIST used)
    fault("tests/repo/commands.cmake answers for ${pattern}, which no page names")
  endif()
endforeach()

if(faults GREATER 0 OR commands EQUAL 0)
  message(FATAL_ERROR "${faults} faults in ${commands} commands")
endif()
message("something runs each of ${commands} commands, or cannot")
