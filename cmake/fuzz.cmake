# Each test/fuzz/<name>_fuzz.cpp defines LLVMFuzzerTestOneInput. With TRAINSCOPE_FUZZ it becomes a
# libFuzzer program that searches; otherwise fuzz-replay has all of them, and a test of each replays
# test/fuzz/corpus/<name>/.
set(fuzz_folder "${PROJECT_SOURCE_DIR}/test/fuzz")
file(GLOB fuzz_sources CONFIGURE_DEPENDS "${fuzz_folder}/*_fuzz.cpp")

function(ts_fuzz_searches)
  foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM program)
    add_executable(${program} "${source}")
    target_link_libraries(${program} PRIVATE ${TS_MODULE_TARGETS})
    target_precompile_headers(${program} REUSE_FROM ts_precompiled)
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  endforeach()
endfunction()

function(ts_fuzz_replays)
  set(included "")
  set(entries "")
  foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM program)
    string(REGEX REPLACE "_fuzz$" "" name "${program}")
    string(APPEND included "#define LLVMFuzzerTestOneInput ${program}\n#include \"${source}\"\n"
                           "#undef LLVMFuzzerTestOneInput\n")
    string(APPEND entries "    {\"${name}\", ${program}},\n")
    add_test(NAME fuzz.${name} COMMAND fuzz-replay ${name} "${fuzz_folder}/corpus/${name}"
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 60 LABELS fuzz)
  endforeach()
  set(output "${CMAKE_BINARY_DIR}/generated/fuzz_targets.cpp")
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT "// Generated: all fuzz targets under names of their own.
#include \"replay.h\"

${included}
std::span<const FuzzTarget> fuzz_targets() {
  static constexpr FuzzTarget kAll[] = {
${entries}  };
  return kAll;
}
")
  add_executable(fuzz-replay "${fuzz_folder}/replay.cpp" "${output}")
  target_include_directories(fuzz-replay PRIVATE "${fuzz_folder}")
  target_link_libraries(fuzz-replay PRIVATE ${TS_MODULE_TARGETS})
  target_precompile_headers(fuzz-replay REUSE_FROM ts_precompiled)
  if(CMAKE_CROSSCOMPILING)
    target_link_options(fuzz-replay PRIVATE -static)
  endif()
endfunction()

if(TRAINSCOPE_FUZZ)
  ts_fuzz_searches()
else()
  ts_fuzz_replays()
endif()
