# Checks the includes of every header below INCLUDE_DIR against the layers:
#
#     std <- detail/core <- infer, detail/check, detail/kernel
#     detail/check, detail/kernel <- detail/tensor (+ xtensor) <- detail/{scan,indexed,recurrent,prefix} <- the operators, TOPIC/NAME.hpp
#         <- TOPIC.hpp <- xloom.hpp
#
# types.hpp may include detail/core, tensor.hpp and kernels.hpp the layers up to detail/tensor and these three; no other header but xloom.hpp
# includes them.
#
# Every header reaches detail/core/abi.hpp, which refuses older standards and names the inline namespace, before it opens the namespace.

set(core_may "core")
set(check_may "core|check")
set(kernel_may "core|kernel")
set(tensor_may "core|check|kernel|tensor")
# The engine of one family of operators does not know another.
foreach(family scan indexed recurrent prefix)
  set(${family}_may "core|check|kernel|tensor|${family}")
endforeach()
set(operator_may "core|check|kernel|tensor|scan|indexed|recurrent|prefix")
# An operator may build on operators of these topics.
set(topics_control_flow "control_flow")
set(topics_indexing "indexing")
set(topics_parallel "parallel")
set(topics_recurrent "recurrent")
set(topics_gradients "gradients|control_flow|indexing|parallel|recurrent")
set(topics_ranks "ranks|indexing|parallel")
set(topics_interop "none")

# Headers of other libraries, and who may include them.
set(foreign
  "^(xtensor|xtl)/ xloom/detail/tensor/xtensor\\.hpp"
  "^tbb/ xloom/interop/tbb\\.hpp"
  "^mpi\\.h$ xloom/ranks/mpi\\.hpp"
  "^adolc/ xloom/interop/adolc\\.hpp"
  "^Sacado_ xloom/interop/sacado\\.hpp"
  "^Eigen/ xloom/interop/eigen\\.hpp"
  "^dlpack/ xloom/interop/dlpack\\.hpp"
  "^nlohmann/ xloom/interop/json\\.hpp"
  "^sys/ xloom/detail/core/aligned_vector\\.hpp"
  "^xmmintrin\\.h$ xloom/detail/core/flush_subnormals\\.hpp"
  "^(imm|emm)intrin\\.h$ xloom/detail/kernel/lanes\\.hpp"
  "^xsimd/ xloom/detail/kernel/.*"
  "^[a-z_0-9]+$ .*") # std

# What only some compilers know, and who may use it beside detail/core/compiler.hpp.
set(compiler_words "__builtin_|__attribute__|\\[\\[gnu::|[^a-z_]asm[ (]|# *pragma +(GCC|clang)")
set(may_use_compiler_words "core/flush_subnormals|kernel/lanes|kernel/lane_transpose|scan/lanes")

include(${CMAKE_CURRENT_LIST_DIR}/faults.cmake)

file(GLOB_RECURSE headers RELATIVE ${INCLUDE_DIR} ${INCLUDE_DIR}/*.hpp)
list(SORT headers)
foreach(header IN LISTS headers)
  if(header MATCHES "^xloom/detail/([a-z_]+)/[a-z0-9_]+\\.hpp$")
    set(allowed "^xloom/detail/(${${CMAKE_MATCH_1}_may})/")
    if(NOT DEFINED ${CMAKE_MATCH_1}_may)
      fault("${header} belongs to no known layer")
    endif()
  elseif(header MATCHES "^xloom/infer/")
    set(allowed "^xloom/(infer|detail/core)/")
  elseif(header STREQUAL "xloom/types.hpp")
    set(allowed "^xloom/detail/core/")
  elseif(header MATCHES "^xloom/(tensor|kernels)\\.hpp$")
    set(allowed "^xloom/detail/(${tensor_may})/|^xloom/(types|tensor)\\.hpp$")
  elseif(header STREQUAL "xloom/xloom.hpp")
    set(allowed "^xloom/[a-z_]+\\.hpp$|^xloom/interop/|^xloom/ranks/mpi\\.hpp$")
  elseif(header MATCHES "^xloom/([a-z_]+)/[a-z_]+\\.hpp$")
    set(allowed "^xloom/detail/(${operator_may})/|^xloom/(${topics_${CMAKE_MATCH_1}})/")
    if(NOT DEFINED topics_${CMAKE_MATCH_1})
      fault("${header} belongs to no known topic")
    endif()
  elseif(header MATCHES "^xloom/([a-z_]+)\\.hpp$")
    set(allowed "^xloom/${CMAKE_MATCH_1}/")
  else()
    set(allowed "^$")
    fault("${header} belongs to no known layer")
  endif()

  if(NOT header MATCHES "^xloom/detail/(core/compiler|${may_use_compiler_words})\\.hpp$")
    file(STRINGS ${INCLUDE_DIR}/${header} words REGEX "${compiler_words}")
    if(words)
      fault("${header} must leave to detail/core/compiler.hpp: ${words}")
    endif()
  endif()
  file(STRINGS ${INCLUDE_DIR}/${header} includes REGEX "^ *# *include")
  if(header STREQUAL "xloom/detail/core/abi.hpp")
    continue() # whose only include is an error's text
  endif()
  if(NOT includes MATCHES "<xloom/")
    fault("${header} must include <xloom/detail/core/abi.hpp>, or a header that does")
  endif()
  foreach(line IN LISTS includes)
    string(REGEX REPLACE ".*[<\"]([^>\"]+)[>\"].*" "\\1" included "${line}")
    set(is_allowed FALSE)
    if(included MATCHES "^xloom/" AND included MATCHES "${allowed}")
      set(is_allowed TRUE)
    endif()
    foreach(entry IN LISTS foreign)
      string(REPLACE " " ";" entry ${entry})
      list(GET entry 0 theirs)
      list(GET entry 1 ours)
      if(included MATCHES "${theirs}" AND header MATCHES "^${ours}$")
        set(is_allowed TRUE)
      endif()
    endforeach()
    if(NOT is_allowed)
      fault("${header} must not include <${included}>")
    endif()
  endforeach()
endforeach()
list(LENGTH headers count)
if(faults GREATER 0 OR count EQUAL 0)
  message(FATAL_ERROR "${faults} faults in ${count} headers")
endif()
message("${count} headers keep the layers")
