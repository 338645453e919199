# Checks benchmarks/compare.py of SOURCE_DIR on times that are written to SCRATCH: what is slower than before, what is faster, what is
# within the noise, and what it leaves out.

cmake_minimum_required(VERSION 3.22)

# Writes a file of repetition `number` below a folder, as Google Benchmark does.
function(write_times folder number)
  set(runs "")
  foreach(run IN LISTS ARGN)
    string(REPLACE "=" ";" run ${run})
    list(GET run 0 name)
    list(GET run 1 seconds)
    list(APPEND runs "{\"name\": \"${name}\", \"call\": ${seconds}}")
  endforeach()
  list(JOIN runs ", " runs)
  file(WRITE ${SCRATCH}/${folder}/scan.${number}.json "{\"context\": {}, \"benchmarks\": [${runs}]}")
endfunction()

function(expect_comparison expected_status)
  execute_process(COMMAND ${SOURCE_DIR}/benchmarks/compare.py ${SCRATCH}/before ${SCRATCH}/now
    RESULT_VARIABLE status OUTPUT_VARIABLE printed)
  if(NOT status STREQUAL expected_status)
    message(FATAL_ERROR "the status is ${status}, not ${expected_status}: ${printed}")
  endif()
  foreach(line IN LISTS ARGN)
    if(NOT printed MATCHES "${line} *\n")
      message(FATAL_ERROR "there is no line ${line} in ${printed}")
    endif()
  endforeach()
  if(printed MATCHES "hand|onnxruntime|new")
    message(FATAL_ERROR "a series is compared that is not xloom's or has no time before: ${printed}")
  endif()
endfunction()

set(ENV{PYTHONDONTWRITEBYTECODE} 1)
file(REMOVE_RECURSE ${SCRATCH})
set(others w/impl:hand=1 w/impl:onnxruntime=1)
foreach(number RANGE 1 4)
  math(EXPR tenths "3 * (${number} % 2)") # noise of 30 %
  write_times(before ${number} same/impl:xloom=1.00 slow/impl:xloom=1.00 fast/impl:xloom_pure=1.20 noisy/impl:xloom=1.${tenths}
    moved/impl:hand=1 moved/impl:xloom=2 ${others})
  write_times(now ${number} same/impl:xloom=1.02 slow/impl:xloom=1.10 fast/impl:xloom_pure=1.00 noisy/impl:xloom=1.5
    moved/impl:hand=1.2 moved/impl:xloom=2.4 new/impl:xloom=1 w/impl:hand=2 w/impl:onnxruntime=2)
endforeach()
expect_comparison(1 "same +1 s +1.02 s +1.02 +0%" "slow +1 s +1.1 s +1.10 +0% +slower" "fast \\(xloom_pure\\) +1.2 s +1 s +0.83 +0% +faster"
  "noisy +1 s +1.5 s +1.50 +30%" "moved +2 s +2.4 s +1.00 +0%" "5 series, 1 slower")
foreach(number RANGE 1 4)
  write_times(now ${number} slow/impl:xloom=1.03)
endforeach()
file(WRITE ${SCRATCH}/before/scan.5.json "") # of a program that has none of the cases
expect_comparison(0 "slow +1 s +1.03 s +1.03 +0%" "1 series, 0 slower")
