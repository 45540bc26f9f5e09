# A module is src/<name>: one static library ts_<name> of every .cpp below it. A folder joins the build
# by having a CMakeLists.txt, which is one call of ts_module and, for one-file registries, of ts_table.
#
#   ts_module(<name> [DEPENDS <module>…] [LINK <system library>…] [RARELY_HOT])
#   ts_proto(<name> <file.proto>)
#   ts_table(MODULE <name> FOLDER <folder in it, or .> TYPE <Type> SUFFIX <suffix>
#            FUNCTION <function> HEADER <header>)
#
# A file of a registry has a namespace of its own, <stem>_<suffix>, where it defines `const <Type> entry`.
# LINK takes linker names (sqlite3, zstd): -static makes the linker choose the archive.
# RARELY_HOT is compiled with -O1 in a release: a third less time for code that waits for people.

function(ts_add_modules)
  file(GLOB lists CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src"
       "${PROJECT_SOURCE_DIR}/src/*/CMakeLists.txt")
  foreach(list IN LISTS lists)
    get_filename_component(name "${list}" DIRECTORY)
    add_subdirectory("src/${name}")
  endforeach()
  get_property(targets GLOBAL PROPERTY TS_MODULE_TARGETS)
  set(TS_MODULE_TARGETS ${targets} PARENT_SCOPE)
endfunction()

function(ts_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RARELY_HOT" "" "DEPENDS;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ts_module(${name}): what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  # main.cpp belongs to the program, or the unit tests would have two main functions.
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  if(NOT sources)
    set(sources "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp")
    file(CONFIGURE OUTPUT "${sources}" CONTENT "// ${name} has only headers so far.\n")
  endif()
  add_library(ts_${name} STATIC ${sources})
  if(arg_RARELY_HOT AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(ts_${name} PRIVATE -O1)
    target_precompile_headers(ts_${name} REUSE_FROM ts_precompiled_rarely_hot)
  else()
    target_precompile_headers(ts_${name} REUSE_FROM ts_precompiled)
  endif()
  if(TRAINSCOPE_UNITY)
    set_target_properties(ts_${name} PROPERTIES UNITY_BUILD ON
                          UNITY_BUILD_BATCH_SIZE ${TRAINSCOPE_UNITY})
    # The rule for headers, applied to a .cpp file that another one includes.
    target_compile_options(ts_${name} PRIVATE -Wno-subobject-linkage)
  endif()
  foreach(module IN LISTS arg_DEPENDS)
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/src/${module}/CMakeLists.txt")
      message(FATAL_ERROR "ts_module(${name}): DEPENDS names '${module}', but src/${module} is not a module")
    endif()
    target_link_libraries(ts_${name} PUBLIC ts_${module})
  endforeach()
  target_link_libraries(ts_${name} PUBLIC ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY TS_MODULE_TARGETS ts_${name})
endfunction()

# Headers of others that many files see, compiled once. Ours are not among them: a change to one would
# compile everything again.
set(TS_PRECOMPILED <algorithm> <array> <cmath> <functional> <map> <memory> <optional> <set> <span> <string>
    <string_view> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
add_library(ts_precompiled STATIC "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
target_precompile_headers(ts_precompiled PRIVATE ${TS_PRECOMPILED})
# The same for what is RARELY_HOT: a precompiled header fits only the flags that it was compiled with.
add_library(ts_precompiled_rarely_hot STATIC EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
target_precompile_headers(ts_precompiled_rarely_hot PRIVATE ${TS_PRECOMPILED})
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(ts_precompiled_rarely_hot PRIVATE -O1)
endif()

# The table names every constant, so the linker keeps each object of the archive that defines one;
# self-registering constants would be dropped.
function(ts_table)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "MODULE;FOLDER;TYPE;SUFFIX;FUNCTION;HEADER" "")
  foreach(key MODULE FOLDER TYPE SUFFIX FUNCTION HEADER)
    if(NOT arg_${key})
      message(FATAL_ERROR "ts_table: ${key} is missing")
    endif()
  endforeach()
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/src/${arg_HEADER}")
    message(FATAL_ERROR "ts_table(${arg_MODULE}): src/${arg_HEADER} does not exist")
  endif()
  cmake_path(ABSOLUTE_PATH arg_FOLDER BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/src/${arg_MODULE}"
             NORMALIZE OUTPUT_VARIABLE folder)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.cpp")
  list(FILTER files EXCLUDE REGEX "(_test|/main)\\.cpp$")
  list(SORT files)
  set(output "${CMAKE_BINARY_DIR}/generated/${arg_MODULE}_${arg_FUNCTION}_table.cpp")
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    string(APPEND declarations "namespace ${stem}_${arg_SUFFIX} {\nextern const ${arg_TYPE} entry;\n}\n")
    list(APPEND entries "&${stem}_${arg_SUFFIX}::entry")
  endforeach()
  if(entries)
    list(JOIN entries ", " entries)
    set(body "  static constexpr const ${arg_TYPE}* kAll[] = {${entries}};\n  return kAll;\n")
  else()
    set(body "  return {};\n")
  endif()
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT "// Generated: one entry per file of the folder.
#include \"${arg_HEADER}\"

#include <span>

namespace trainscope {

${declarations}
std::span<const ${arg_TYPE}* const> ${arg_FUNCTION}() {
${body}}

}  // namespace trainscope
")
  target_sources(ts_${arg_MODULE} PRIVATE "${output}")
endfunction()

# A .proto file of a module, compiled for protobuf-lite; its header is <STEM.pb.h>.
function(ts_proto module file)
  find_program(TS_PROTOC protoc REQUIRED)
  cmake_path(GET file STEM stem)
  set(folder "${CMAKE_BINARY_DIR}/generated/${module}")
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(
    OUTPUT "${folder}/${stem}.pb.cc" "${folder}/${stem}.pb.h"
    COMMAND "${TS_PROTOC}" "--proto_path=${CMAKE_CURRENT_SOURCE_DIR}" "--cpp_out=${folder}" "${file}"
    DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  # Not ours to warn about.
  set_source_files_properties("${folder}/${stem}.pb.cc" PROPERTIES COMPILE_OPTIONS "-w"
                              SKIP_PRECOMPILE_HEADERS ON)
  target_sources(ts_${module} PRIVATE "${folder}/${stem}.pb.cc" "${folder}/${stem}.pb.h")
  target_include_directories(ts_${module} SYSTEM PRIVATE "${folder}")
endfunction()
