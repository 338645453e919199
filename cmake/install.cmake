# What `cmake --install` lays down: headers, licence, CMake package, pkg-config file. Nothing in it depends on the machine, but the library
# xloom_dispatch and the tools for ONNX files, if they are built.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/xloom)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/xloom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/xloom)

install(TARGETS xloom EXPORT xloomTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT xloomTargets NAMESPACE xloom:: DESTINATION ${package_dir})
configure_file(${CMAKE_CURRENT_LIST_DIR}/xloomConfig.cmake.in ${PROJECT_BINARY_DIR}/xloomConfig.cmake @ONLY)
# Before 1.0 a minor version may break what the one before it promised.
set(architecture ARCH_INDEPENDENT)
if(XLOOM_BUILD_DISPATCH) # the tools run on any machine that builds for another one
  set(architecture "")
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/xloomConfigVersion.cmake COMPATIBILITY SameMinorVersion ${architecture})
install(FILES ${PROJECT_BINARY_DIR}/xloomConfig.cmake ${PROJECT_BINARY_DIR}/xloomConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/xloom_add_model.cmake DESTINATION ${package_dir})

file(RELATIVE_PATH xloom_include_from_pkgconfig ${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/xloom.pc.in ${PROJECT_BINARY_DIR}/xloom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/xloom.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
