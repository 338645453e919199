# The target xloom_libtorch, where Debian's libtorch-dev is installed. It needs 295 packages, so that only `scripts/setup torch` installs it.
# Its CMake package adds compiler flags; these are the files that it names. Compile what includes its headers in C++17: clang does not compile
# them in C++20, which instantiates vectors of their incomplete types.
include_guard(GLOBAL)
find_path(TORCH_INCLUDE_DIR ATen/core/Tensor.h)
find_library(TORCH_LIBRARY torch)
find_library(TORCH_CPU_LIBRARY torch_cpu)
find_library(C10_LIBRARY c10)
if(TORCH_INCLUDE_DIR AND TORCH_LIBRARY AND TORCH_CPU_LIBRARY AND C10_LIBRARY)
  add_library(xloom_libtorch INTERFACE)
  if(NOT TORCH_INCLUDE_DIR STREQUAL "/usr/include") # whose place in the compiler's search order must not change
    target_include_directories(xloom_libtorch SYSTEM INTERFACE ${TORCH_INCLUDE_DIR})
  endif()
  target_link_libraries(xloom_libtorch INTERFACE ${TORCH_LIBRARY} ${TORCH_CPU_LIBRARY} ${C10_LIBRARY})
endif()
