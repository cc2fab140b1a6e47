# cgrt_add_graph(TARGET FILE.cgraph
#                [NAME name]                # default: FILE without its extension
#                [TARGET cuda|host|both]    # whose code; default: both, or host alone without NVRTC
#                [ARCH sm_90...]            # CUDA architectures
#                [DEFINES NAME=VALUE...]    # values of consts
#                [INCLUDES DIR...]          # where imports are looked for, after FILE's folder
#                [DEPENDS TARGET...]        # what makes files that FILE names
#                [HEADER])                  # make a header, too
#
# Whenever TARGET is built, FILE is compiled before it to the bundle <name>.cgb in the current build
# folder: again when FILE, what it imports or includes, or cgc has changed. The path of the bundle
# is TARGET's property CGRT_GRAPH_<name>. Paths are relative to the current source folder. Several
# targets may share a bundle. With HEADER, TARGET can also #include "<name>.cgraph.h", which holds the
# bundle and classes around it (cgc --emit=header).
cmake_policy(VERSION 3.20)

# Makes `output` with the options behind it. `file`, `options` and `arg_DEPENDS` are the caller's.
function(_cgrt_compile_graph output)
  set(environment)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang") # for the host device's code
    set(environment ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER})
  endif()
  cmake_path(GET file FILENAME shown)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${environment} $<TARGET_FILE:cgrt::cgc> ${file} ${options} ${ARGN} -o ${output}
            -MD -MF ${output}.d
    DEPENDS cgrt::cgc ${file} ${arg_DEPENDS}
    DEPFILE ${output}.d
    COMMENT "Compiling ${shown}"
    VERBATIM)
endfunction()

function(cgrt_add_graph target file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "HEADER" "NAME;TARGET" "ARCH;DEFINES;INCLUDES;DEPENDS")
  if(DEFINED arg_UNPARSED_ARGUMENTS OR DEFINED arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "cgrt_add_graph(${target} ${file}): cannot use"
                        " '${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}'")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "cgrt_add_graph: there is no target '${target}'")
  endif()
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "cgrt_add_graph: there is no file '${file}'")
  endif()
  if(file MATCHES "[$#;\\]")
    message(FATAL_ERROR "cgrt_add_graph: '${file}' has one of $ # ; \\ in its name, which build"
                        " tools take for something else")
  endif()
  if(NOT DEFINED arg_NAME)
    cmake_path(GET file STEM LAST_ONLY arg_NAME)
  endif()

  set(options)
  if(DEFINED arg_TARGET)
    list(APPEND options --target=${arg_TARGET})
  endif()
  if(DEFINED arg_ARCH)
    list(JOIN arg_ARCH "," architectures)
    list(APPEND options --arch=${architectures})
  endif()
  foreach(define IN LISTS arg_DEFINES)
    list(APPEND options -D${define})
  endforeach()
  foreach(folder IN LISTS arg_INCLUDES)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND options -I${folder})
  endforeach()

  set(bundle ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.cgb)
  cmake_path(RELATIVE_PATH bundle BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE step)
  string(MAKE_C_IDENTIFIER graph_${step} step)
  set(made_from ${bundle} ${file} ${options})
  if(NOT TARGET ${step})
    _cgrt_compile_graph(${bundle})
    add_custom_target(${step} DEPENDS ${bundle})
    set_target_properties(${step} PROPERTIES CGRT_MADE_FROM "${made_from}")
  endif()
  get_target_property(made_before ${step} CGRT_MADE_FROM)
  if(NOT made_before STREQUAL made_from)
    message(FATAL_ERROR "cgrt_add_graph(${target} ${file}): ${bundle} is made in another way, too;"
                        " give one of them another NAME")
  endif()
  add_dependencies(${target} ${step})
  if(arg_HEADER)
    set(header ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.cgraph.h)
    if(NOT TARGET ${step}_header)
      _cgrt_compile_graph(${header} --emit=header)
      add_custom_target(${step}_header DEPENDS ${header})
    endif()
    add_dependencies(${target} ${step}_header)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set_property(TARGET ${target} PROPERTY CGRT_GRAPH_${arg_NAME} ${bundle})
endfunction()
