# Toolchain of Debian's g++-mingw-w64 for Windows on x86-64: XLOOM_CROSS_ROOT is the folder where scripts/fetch-packages has unpacked the
# headers of libraries. Wine runs the tests; what they need of g++ is linked into them.

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES XLOOM_CROSS_ROOT)
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu) # the folder of Debian's CMake packages, also of those with headers only
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
add_compile_options(-Wa,-mbig-obj) # a unit of the tests has more sections than the usual format of objects
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/lib/wine/wine64)

# Nothing of this machine is found but its programs.
set(CMAKE_FIND_ROOT_PATH ${XLOOM_CROSS_ROOT} ${XLOOM_CROSS_ROOT}/usr)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
