# The tools and the examples use xloom as its users do: no file below SOURCE_DIR/tools and SOURCE_DIR/examples includes a header below
# xloom/detail/, not even in code that it writes, or names one of the namespaces xloom::detail and xloom::kernel.

cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/faults.cmake)

set(count 0)
foreach(folder IN ITEMS tools examples)
  file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/${folder}/*.hpp ${SOURCE_DIR}/${folder}/*.cpp)
  foreach(file IN LISTS files)
    math(EXPR count "${count} + 1")
    file(STRINGS ${SOURCE_DIR}/${file} lines REGEX "xloom/detail/|xloom::(detail|kernel)[^a-z_]")
    foreach(line IN LISTS lines)
      string(STRIP "${line}" line)
      fault("${file}: ${line}")
    endforeach()
  endforeach()
endforeach()
if(faults GREATER 0 OR count EQUAL 0)
  message(FATAL_ERROR "${faults} uses of xloom's internals in ${count} files; xloom/types.hpp and xloom/kernels.hpp have what is public")
endif()
message("${count} files use public names only")
