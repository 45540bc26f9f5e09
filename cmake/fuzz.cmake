# Each test/fuzz/<name>_fuzz.cpp defines LLVMFuzzerTestOneInput. With TRAINSCOPE_FUZZ it becomes a
# libFuzzer program that searches; otherwise a test that replays test/fuzz/corpus/<name>/.
file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/fuzz/*_fuzz.cpp")
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM program)
  string(REGEX REPLACE "_fuzz$" "" name "${program}")
  set(corpus "${PROJECT_SOURCE_DIR}/test/fuzz/corpus/${name}")
  add_executable(${program} "${source}")
  target_link_libraries(${program} PRIVATE ${TS_MODULE_TARGETS})
  if(TRAINSCOPE_FUZZ)
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${program} PRIVATE "${PROJECT_SOURCE_DIR}/test/fuzz/replay.cpp")
    add_test(NAME fuzz.${name} COMMAND ${program} "${corpus}"
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 60 LABELS fuzz)
  endif()
endforeach()
