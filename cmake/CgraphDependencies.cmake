# Finds what the project is built with; each package's Debian name stands in docs/building.md.
find_package(Threads REQUIRED)

# FlatBuffers: header-only in the runtime, flatc at build time.
find_program(CGRAPH_FLATC flatc REQUIRED)
find_path(CGRAPH_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)

# ANTLR 4: the tool (Java) at build time, the C++ runtime statically.
find_program(CGRAPH_ANTLR antlr4 REQUIRED)
find_path(CGRAPH_ANTLR_INCLUDE antlr4-runtime.h PATH_SUFFIXES antlr4-runtime REQUIRED)
find_library(CGRAPH_ANTLR_LIBRARY libantlr4-runtime.a REQUIRED)

# LLVM Support, 14 to 19. The library directory's static archives only.
set(CGRAPH_LLVM_DIRS)
foreach(version RANGE 14 19)
  list(APPEND CGRAPH_LLVM_DIRS /usr/lib/llvm-${version}/lib/cmake/llvm)
endforeach()
find_package(LLVM REQUIRED CONFIG HINTS ${CGRAPH_LLVM_DIRS})
if(LLVM_VERSION_MAJOR LESS 14 OR LLVM_VERSION_MAJOR GREATER 19)
  message(FATAL_ERROR "LLVM ${LLVM_PACKAGE_VERSION} at ${LLVM_DIR}: versions 14 to 19 are supported; set LLVM_DIR")
endif()
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION}")

# CUDA Toolkit: optional; 13.0 is the first with the graph interface the CUDA device is written to.
set(CGRAPH_HAVE_CUDA OFF)
if(CGRAPH_CUDA)
  find_package(CUDAToolkit 13.0 QUIET)
  if(CUDAToolkit_FOUND AND TARGET CUDA::cudart_static)
    set(CGRAPH_HAVE_CUDA ON)
    message(STATUS "CUDA Toolkit ${CUDAToolkit_VERSION}")
  else()
    message(STATUS "No CUDA Toolkit 13.0 or newer: building with the host device alone")
  endif()
endif()

# LLVM Support and what it needs, all static, so that the tools run where none of it is installed.
# Its own link interface names shared libraries, among them one (Z3) that Support does not use.
find_library(CGRAPH_LLVM_SUPPORT libLLVMSupport.a PATHS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH REQUIRED)
find_library(CGRAPH_LLVM_DEMANGLE libLLVMDemangle.a PATHS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH REQUIRED)
find_library(CGRAPH_ZLIB libz.a REQUIRED)
find_library(CGRAPH_TINFO libtinfo.a REQUIRED)
add_library(cgraph_llvm_support INTERFACE)
cgraph_link_bundled(cgraph_llvm_support
  ${CGRAPH_LLVM_SUPPORT} ${CGRAPH_LLVM_DEMANGLE} ${CGRAPH_ZLIB} ${CGRAPH_TINFO})
target_link_libraries(cgraph_llvm_support INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
