# Toolchain of Debian's cross compilers: XLOOM_CROSS_TRIPLET names the other processor, such as aarch64-linux-gnu, XLOOM_CROSS_ROOT the folder
# where scripts/fetch-packages has unpacked libraries for it. qemu-user runs the tests.

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES XLOOM_CROSS_TRIPLET XLOOM_CROSS_ROOT)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${XLOOM_CROSS_TRIPLET})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_CXX_COMPILER ${XLOOM_CROSS_TRIPLET}-g++)
# Debian's libraries have an older name of the 32-bit x86.
string(REPLACE i686 i386 CMAKE_LIBRARY_ARCHITECTURE ${XLOOM_CROSS_TRIPLET})
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "i686") # a 64-bit x86 runs its programs by itself, if its kernel can and they are given their loader
  set(libraries /usr/${XLOOM_CROSS_TRIPLET}/lib)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${libraries}/ld-linux.so.2 --library-path ${libraries}) # not the libraries of libc6-i386
  execute_process(COMMAND ${libraries}/ld-linux.so.2 --version RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(NOT result EQUAL 0)
    list(PREPEND CMAKE_CROSSCOMPILING_EMULATOR qemu-i386)
  endif()
else()
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR} -L /usr/${XLOOM_CROSS_TRIPLET})
endif()

# Nothing of this machine is found but its programs.
set(CMAKE_FIND_ROOT_PATH ${XLOOM_CROSS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
