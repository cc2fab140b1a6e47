# What `cmake --install` puts into a prefix: the runtime, the tools, and the CMake and pkg-config
# packages by which other projects find them (docs/building.md, "From another project").
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cgrt)

set_target_properties(cgrt PROPERTIES EXPORT_NAME runtime)
set(runtime_libraries cgrt)
if(CGRAPH_HAVE_CUDA)
  set_target_properties(cgrt_cuda PROPERTIES EXPORT_NAME runtime_cuda)
  list(APPEND runtime_libraries cgrt_cuda)
  get_target_property(CGRAPH_CUDART_LIBRARY CUDA::cudart_static IMPORTED_LOCATION)
endif()
install(TARGETS ${runtime_libraries} cgrt_c cgc cgrun
  EXPORT cgrtTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/cgrt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The compiler library. Its parts keep their file names; only cgrt::compiler is for users.
set_target_properties(cgc_compiler PROPERTIES EXPORT_NAME compiler)
install(TARGETS cgc_compiler cgrt_encode cgc_generated_parser stdlib_kernels cgraph_llvm_support
  EXPORT cgrtCompilerTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/cgrt
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/compiler/driver/compilation.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cgc)

# CMake. Before 1.0 a minor version may change the interface.
install(EXPORT cgrtTargets NAMESPACE cgrt:: DESTINATION ${package_folder})
install(EXPORT cgrtCompilerTargets NAMESPACE cgrt:: DESTINATION ${package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/cgrtConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/cgrtConfig.cmake
  INSTALL_DESTINATION ${package_folder}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/cgrtConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/cgrtConfig.cmake
  ${PROJECT_BINARY_DIR}/package/cgrtConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/CgrtAddGraph.cmake
  DESTINATION ${package_folder})

# pkg-config. The two archives need each other; a program in C has to be told of the C++ library.
set(CGRAPH_PKGCONFIG_LIBS "-lcgrt")
if(CGRAPH_HAVE_CUDA)
  set(CGRAPH_PKGCONFIG_LIBS "-Wl,--start-group -lcgrt -lcgrt_cuda -Wl,--end-group \${cudart} -lrt")
endif()
set(cpp_library ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER cpp_library INCLUDE REGEX "^(std)?c\\+\\+$")
foreach(library IN LISTS CMAKE_DL_LIBS CMAKE_THREAD_LIBS_INIT cpp_library)
  if(NOT library MATCHES "^-")
    set(library -l${library})
  endif()
  string(APPEND CGRAPH_PKGCONFIG_LIBS " ${library}")
endforeach()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  OUTPUT_VARIABLE CGRAPH_PREFIX_FROM_PKGCONFIG)
foreach(package cgrt cgrt_c)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in
    ${PROJECT_BINARY_DIR}/package/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${package}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
