# Checks the scripts of SOURCE_DIR without what they build or install:
#
#     each script      -h and --help print its first comment, and nothing else happens: no other program is found, no file is written
#     scripts/test     refuses an unknown preset before it installs anything
#     scripts/setup    refuses what is not one part
#     scripts/example  lists the examples, and installs what one needs: one line says so, apt's output is shown if it fails
#     what builds      installs what it needs before anything else: each script that calls scripts/setup or scripts/build-example

cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/faults.cmake)

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH}/bin)
foreach(folder scripts .ci packaging docs examples benchmarks)
  file(COPY ${SOURCE_DIR}/${folder} DESTINATION ${SCRATCH}/tree)
endforeach()
foreach(program bash dirname grep sed)
  find_program(path_of_${program} ${program} REQUIRED)
  file(CREATE_LINK ${path_of_${program}} ${SCRATCH}/bin/${program} SYMBOLIC)
endforeach()
execute_process(COMMAND python3 -c "import sys; print(sys.executable)" RESULT_VARIABLE without_python OUTPUT_VARIABLE python
  OUTPUT_STRIP_TRAILING_WHITESPACE)
set(path $ENV{PATH})
set(ENV{PATH} ${SCRATCH}/bin)
set(ENV{PYTHONDONTWRITEBYTECODE} 1)
file(COPY ${SOURCE_DIR}/CMakePresets.json DESTINATION ${SCRATCH}/tree)
file(GLOB_RECURSE before RELATIVE ${SCRATCH}/tree ${SCRATCH}/tree/*)

set(scripts ${before})
list(FILTER scripts INCLUDE REGEX "^(scripts/[^/]*|\\.ci/run|packaging/fill)$")
list(REMOVE_ITEM scripts scripts/answer-help scripts/last-core scripts/time-compiler scripts/use-ccache scripts/use-huge-pages) # for scripts to source
if(NOT without_python)
  file(CREATE_LINK ${python} ${SCRATCH}/bin/python3 SYMBOLIC)
endif()
set(installing "")
foreach(script IN LISTS scripts)
  file(READ ${SCRATCH}/tree/${script} text)
  if(without_python AND text MATCHES "^#!/usr/bin/env python3")
    message(STATUS "${script} is omitted: there is no python3")
    list(REMOVE_ITEM scripts ${script})
    continue()
  endif()
  if(text MATCHES "\n[^#|\n]*scripts/(setup|build-example)\"? ") # after || it may not be called
    list(APPEND installing ${script})
  endif()
  foreach(option -h --help)
    execute_process(COMMAND ${SCRATCH}/tree/${script} ${option} RESULT_VARIABLE failed OUTPUT_VARIABLE printed ERROR_VARIABLE complaint)
    string(REPLACE "\n" "\n# " comment "\n${printed}")
    string(REGEX REPLACE " +\n" "\n" comment "${comment}")
    string(REGEX REPLACE "# $" "set -euo pipefail\n" comment "${comment}")
    string(FIND "${text}" "#!/usr/bin/env bash${comment}" in_bash)
    string(FIND "${text}" "#!/usr/bin/env python3\n\"\"\"${printed}\"\"\"\n" in_python)
    if(failed OR complaint OR (in_bash EQUAL -1 AND in_python EQUAL -1))
      fault("${script} ${option} does not print its first comment and nothing else: ${failed} ${printed}${complaint}")
    endif()
  endforeach()
endforeach()
file(GLOB_RECURSE after RELATIVE ${SCRATCH}/tree ${SCRATCH}/tree/*)
if(NOT before STREQUAL after)
  list(REMOVE_ITEM after ${before})
  fault("asked for help, the scripts write ${after}")
endif()

execute_process(COMMAND ${SCRATCH}/tree/scripts/test --debug RESULT_VARIABLE status ERROR_VARIABLE complaint)
if(NOT status EQUAL 2 OR NOT complaint MATCHES "^test: there is no preset --debug in CMakePresets.json")
  fault("scripts/test --debug ends with ${status}: ${complaint}")
endif()

foreach(arguments "" "''" "nothing" "'tests format'" "tests format")
  separate_arguments(split UNIX_COMMAND "${arguments}")
  execute_process(COMMAND ${SCRATCH}/tree/scripts/setup ${split} RESULT_VARIABLE status ERROR_VARIABLE complaint)
  string(REPLACE "'" "" shown "${arguments}")
  if(NOT status EQUAL 2 OR NOT complaint MATCHES "^setup: there must be one part, but not '${shown}' ")
    fault("scripts/setup ${arguments} ends with ${status}: ${complaint}")
  endif()
endforeach()

set(ENV{PATH} ${path})
execute_process(COMMAND ${SOURCE_DIR}/scripts/example OUTPUT_VARIABLE listed)
file(GLOB programs RELATIVE ${SOURCE_DIR}/examples ${SOURCE_DIR}/examples/*/main.cpp)
foreach(program IN LISTS programs)
  get_filename_component(name ${program} DIRECTORY)
  if(NOT "\n${listed}" MATCHES "\n${name} ")
    fault("scripts/example does not list ${name}")
  endif()
endforeach()

# On a machine without packages; cmake fails, so that nothing is built.
function(write_stub name text)
  file(WRITE ${SCRATCH}/stubs/${name} "#!/bin/sh\n${text}\n")
  file(CHMOD ${SCRATCH}/stubs/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()
write_stub(sudo "exec \"$@\"")
write_stub(dpkg-query "exit 1")
write_stub(cmake "echo no cmake >&2; exit 1")
write_stub(npm "exit 1")
write_stub(apt-get "case \"$*\" in
*--assume-no*) echo '0 upgraded, 70 newly installed, 0 to remove'; echo 'Need to get 90 MB of archives.'; exit 1 ;;
*) echo \"apt-get $*\"; [ $1 != \"$APT_FAILS_TO\" ] ;;
esac")
set(ENV{PATH} ${SCRATCH}/stubs:${path})
set(line "setup: installing for library: cmake g++ libxsimd-dev libxtensor-dev make ninja-build")
foreach(fails_to nothing install)
  set(ENV{APT_FAILS_TO} ${fails_to})
  execute_process(COMMAND ${SCRATCH}/tree/scripts/example first_scan OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
  set(expected_nothing "${line} (70 packages with what they need, 90 MB to download; log in build/setup.log)\nno cmake\n")
  string(REPLACE "no cmake" "\napt-get update\napt-get install --no-install-recommends -y cmake g++ libxsimd-dev libxtensor-dev make ninja-build"
    expected_install "${expected_nothing}")
  if(NOT printed STREQUAL expected_${fails_to})
    fault("scripts/example prints, where apt-get fails to ${fails_to}: ${printed}")
  endif()
endforeach()

# Still, apt-get fails to install, so that each script ends there. These need an argument.
set(argument_build-example first_scan)
set(argument_example first_scan)
set(argument_onnx-compile model.onnx)
set(argument_onnx-run model.onnx)
set(argument_onnx-test .)
foreach(script IN LISTS installing)
  get_filename_component(name ${script} NAME)
  execute_process(COMMAND ${script} ${argument_${name}} WORKING_DIRECTORY ${SCRATCH}/tree OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
  if(NOT printed MATCHES "^setup: installing for [a-z_]+: ")
    fault("${script} does not begin with installing what it needs: ${printed}")
  endif()
endforeach()

list(LENGTH scripts count)
list(LENGTH installing installing_count)
if(faults GREATER 0 OR count EQUAL 0 OR installing_count EQUAL 0)
  message(FATAL_ERROR "${faults} faults in ${count} scripts, of which ${installing_count} install what they need")
endif()
message("${count} scripts answer -h and --help; ${installing_count} begin with installing what they need")
