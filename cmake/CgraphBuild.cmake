# Settings that every target shares, and helpers the folders use.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

set(CGRAPH_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, comma-separated")
if(CGRAPH_SANITIZE)
  add_compile_options(-fsanitize=${CGRAPH_SANITIZE} -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${CGRAPH_SANITIZE})
endif()

# Warnings for our own code; generated code does without.
add_library(cgraph_warnings INTERFACE)
target_compile_options(cgraph_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                 -Wno-sign-conversion -Werror)

# cgraph_link_bundled(TARGET PATH...): TARGET links these archives, copies of which are installed
# beside it, so that its users need not have them.
function(cgraph_link_bundled target)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cgrt)
  foreach(path ${ARGN})
    get_filename_component(name ${path} NAME)
    file(REAL_PATH ${path} file)
    install(FILES ${file} RENAME ${name} DESTINATION ${folder})
    target_link_libraries(${target} INTERFACE
      $<BUILD_INTERFACE:${path}> $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${folder}/${name}>)
  endforeach()
endfunction()

# cgraph_embed(TARGET NAME FILE...): a C++ source in TARGET that defines, for each file,
#   extern const std::string_view NAME_<file name with _ for . and ->;
# declared in the generated header <NAME.h>, in namespace `embedded`.
function(cgraph_embed target name)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.h)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.cpp)
  set(inputs)
  foreach(file ${ARGN})
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND inputs ${path})
  endforeach()
  string(REPLACE ";" "," joined "${inputs}")
  add_custom_command(
    OUTPUT ${header} ${source}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DHEADER=${header} -DSOURCE=${source}
            -DINPUTS=${joined} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${inputs} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE ${source} ${header})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded)
endfunction()
