# Every public header include/xloom/TOPIC/NAME.hpp has
#
#     test        tests/TOPIC/NAME.test.cpp
#     benchmark   benchmarks/NAME.bench.cpp
#     example     a file below examples/ or tools/ that includes it
#
# or is in one of these two lists, and docs/first_steps.md has NAME in its table of headers.

cmake_minimum_required(VERSION 3.22)

# What is elsewhere: the file, and a word of it.
set(elsewhere
  "test tbb | tests/support/threads.hpp | tbb_policy"
  "test gru_cell | tests/recurrent/cells.test.cpp | gru_cell"
  "test lstm_cell | tests/recurrent/cells.test.cpp | lstm_cell"
  "test rnn_cell | tests/recurrent/cells.test.cpp | rnn_cell"
  "test rnn_vjp | tests/gradients/gru_vjp.test.cpp | rnn_vjp_into"
  "test mpi | tests/mpi/mpi.test.cpp | mpi_communicator"
  "benchmark at | benchmarks/scatter_elements.bench.cpp | xloom::at"
  "benchmark gru_cell | benchmarks/small_cells.bench.cpp | gru_cell"
  "benchmark loop_vjp | benchmarks/scan_vjp.bench.cpp | loop_vjp"
  "benchmark lstm_cell | benchmarks/voice_activity.bench.cpp | detector" # whose network is a scan_into of lstm_cell
  "benchmark packed_matrix | benchmarks/scan_cell.bench.cpp | packed_matrix"
  "benchmark rnn | benchmarks/scan_cell.bench.cpp | xloom::rnn"
  "benchmark rnn_cell | benchmarks/small_cells.bench.cpp | rnn_cell"
  "benchmark selective_scan_vjp | benchmarks/selective_scan.bench.cpp | selective_scan_vjp_into"
  "benchmark linear_attention_vjp | benchmarks/linear_attention.bench.cpp | linear_attention_vjp_into"
  "benchmark segment_scan | benchmarks/segment_reduce.bench.cpp | segment_scan"
  "benchmark tbb | benchmarks/scatter_nd.bench.cpp | tbb_policy")

# What there is not, and why.
set(exceptions
  "benchmark along_axis | gather_elements and scatter_elements, on broadcast views"
  "benchmark causal_conv_vjp | the sums of causal_conv, twice"
  "benchmark tensor_scatter | a copy of rows, as scatter_nd of slices"
  "benchmark take | gather_nd with single indices"
  "benchmark distributed_sum | the time of a network, of which docs/ranks.md has a model"
  "benchmark distributed_associative_scan | as distributed_sum"
  "benchmark distributed_gather_nd | as distributed_sum"
  "benchmark distributed_linear_recurrence | as distributed_sum"
  "benchmark distributed_scatter_nd | as distributed_sum"
  "benchmark mpi | as distributed_sum"
  "benchmark thread_ranks | a model for tests"
  "benchmark threads | the time of the operators, as with tbb_policy, and of the threads' start"
  "benchmark adolc | an adapter, whose time is that of ADOL-C"
  "benchmark dlpack | an adapter, which copies nothing"
  "benchmark eigen | as dlpack"
  "benchmark json | an adapter, whose time is that of nlohmann/json"
  "benchmark cumulative | associative_scan with reduce_add"
  "benchmark check_vjp | a tool for tests"
  "benchmark if_vjp | the time of a branch and of its VJP"
  "benchmark linear_recurrence_vjp | linear_recurrence in the opposite direction, and two products"
  "benchmark rnn_vjp | the engine of gru_vjp, with a kernel of one gate"
  "benchmark sacado | an adapter, whose time is that of Sacado"
  "benchmark row_splits | one pass over the ids"
  "benchmark scan_ragged | the iterations of scan, without padding"
  "benchmark segment_softmax | the softmax of attn_lstm, segment by segment"
  "benchmark segment_softmax_vjp | as segment_softmax"
  "benchmark activate_vjp | a part of the time of lstm_vjp"
  "benchmark storage_types | traits only, nothing runs"
  "example linear_recurrence | docs/parallel_scans.md has calls of a few lines"
  "example linear_recurrence_vjp | as linear_recurrence"
  "example selective_scan | as linear_recurrence"
  "example selective_scan_vjp | as linear_recurrence"
  "example along_axis | docs/from_numpy.md has calls of a few lines"
  "example at | as along_axis"
  "example bincount | as along_axis"
  "example take | as along_axis"
  "example distributed_associative_scan | docs/ranks.md has calls of a few lines"
  "example distributed_linear_recurrence | as distributed_associative_scan"
  "example thread_ranks | as distributed_associative_scan"
  "example adolc | the examples do without ADOL-C"
  "example dlpack | docs/first_steps.md has calls of a few lines"
  "example eigen | as dlpack"
  "example json | docs/from_torch.md has the whole way"
  "example gru_vjp | as examples/delayed_echo, with other names"
  "example stack | docs/from_torch.md has the whole way"
  "example rnn_cell | as lstm_cell in examples/voice_activity, with one state"
  "example rnn_vjp | as examples/delayed_echo, with other names"
  "example row_splits | docs/parallel_scans.md has calls of a few lines"
  "example scan_ragged | as scan_batched in examples/smoothed_sensors, without padding"
  "example scan_lanes_vjp | docs/many_sequences.md has calls of a few lines"
  "example segment_reduce | docs/parallel_scans.md has calls of a few lines"
  "example segment_scan | as segment_reduce"
  "example segment_softmax | as segment_reduce"
  "example segment_softmax_vjp | as segment_reduce"
  "example activate_vjp | as examples/delayed_echo, whose LSTM has activations"
  "example sacado | the examples do without Sacado")

include(${CMAKE_CURRENT_LIST_DIR}/faults.cmake)

file(GLOB_RECURSE examples ${SOURCE_DIR}/examples/*.cpp ${SOURCE_DIR}/examples/*.hpp ${SOURCE_DIR}/tools/*.cpp ${SOURCE_DIR}/tools/*.hpp)
set(example_includes "")
foreach(example IN LISTS examples)
  file(STRINGS ${example} lines REGEX "^#include <xloom/")
  string(APPEND example_includes "${lines};")
endforeach()

set(answered "")
foreach(line IN LISTS elsewhere)
  string(REPLACE " | " ";" line ${line})
  list(POP_FRONT line what path word)
  list(APPEND answered ${what})
  set(text "")
  if(EXISTS ${SOURCE_DIR}/${path})
    file(READ ${SOURCE_DIR}/${path} text)
  endif()
  if(NOT text MATCHES ${word})
    fault("${what}: there is no ${word} in ${path}")
  endif()
endforeach()
foreach(line IN LISTS exceptions)
  string(REGEX REPLACE " \\| .*" "" what ${line})
  list(APPEND answered ${what})
endforeach()

file(READ ${SOURCE_DIR}/docs/first_steps.md first_steps)
set(expected "")
file(GLOB headers RELATIVE ${SOURCE_DIR}/include/xloom ${SOURCE_DIR}/include/xloom/*/*.hpp)
list(FILTER headers EXCLUDE REGEX "^infer/")
foreach(header IN LISTS headers)
  get_filename_component(name ${header} NAME_WE)
  get_filename_component(room ${header} DIRECTORY)
  if(NOT first_steps MATCHES "\n[|][^\n]*[`/]${name}[`.]")
    fault("${name}: missing in the table of docs/first_steps.md")
  endif()
  foreach(kind IN ITEMS test benchmark example)
    set(what "${kind} ${name}")
    list(APPEND expected ${what})
    set(found FALSE)
    if(kind STREQUAL "example" AND example_includes MATCHES "<xloom/${room}/${name}\\.hpp>")
      set(found TRUE)
    elseif(EXISTS ${SOURCE_DIR}/${kind}s/${room}/${name}.test.cpp OR EXISTS ${SOURCE_DIR}/${kind}s/${name}.bench.cpp)
      set(found TRUE)
    endif()
    if(found AND what IN_LIST answered)
      fault("${what}: is where it belongs, so it need not be listed here")
    elseif(NOT found AND NOT what IN_LIST answered)
      fault("${what}: missing")
    endif()
  endforeach()
endforeach()
foreach(what IN LISTS answered)
  if(NOT what IN_LIST expected)
    fault("${what}: there is no such header")
  endif()
endforeach()

list(LENGTH expected count)
if(faults GREATER 0 OR count EQUAL 0)
  message(FATAL_ERROR "${faults} faults in ${count} expectations")
endif()
message("${count} tests, benchmarks and examples are expected, and answered for")
