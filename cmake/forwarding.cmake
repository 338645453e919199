# Makes a folder in the build tree where every header of include/ only includes single_include/xloom/xloom.hpp.

set(XLOOM_INCLUDE_DIR ${PROJECT_BINARY_DIR}/forwarding)
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.hpp)
foreach(header IN LISTS headers)
  file(CONFIGURE OUTPUT ${XLOOM_INCLUDE_DIR}/${header} CONTENT "#include \"${PROJECT_SOURCE_DIR}/single_include/xloom/xloom.hpp\"\n")
endforeach()
