# Everything that `make test` runs is a ctest test: unit tests, Python tests, static checks.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# The fixture machines (test/data/roots/README.md), unpacked again when an archive is new, changed or gone.
set(ts_machines "${CMAKE_BINARY_DIR}/machines")
file(GLOB archives CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/data/roots/*.tar")
set(packed "")
foreach(archive IN LISTS archives)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${archive}")
  file(SHA256 "${archive}" hash)
  string(APPEND packed "${hash} ${archive}\n")
endforeach()
set(unpacked "")
if(EXISTS "${ts_machines}.unpacked")
  file(READ "${ts_machines}.unpacked" unpacked)
endif()
if(NOT packed STREQUAL unpacked)
  file(REMOVE_RECURSE "${ts_machines}")
  foreach(archive IN LISTS archives)
    file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${ts_machines}")
  endforeach()
  file(WRITE "${ts_machines}.unpacked" "${packed}")
endif()

# GoogleTest comes as an archive for this machine only; elsewhere it is built from Debian's sources.
if(CMAKE_CROSSCOMPILING)
  set(INSTALL_GTEST OFF)
  add_subdirectory(/usr/src/googletest "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  set(ts_gtest gmock gtest_main)
else()
  find_package(GTest REQUIRED)
  set(ts_gtest GTest::gmock GTest::gtest_main)
endif()
include(GoogleTest)

file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*_test.cpp")
if(unit_sources)
  add_executable(trainscope-unit-tests ${unit_sources})
  target_link_libraries(trainscope-unit-tests PRIVATE ${TS_MODULE_TARGETS} ${ts_gtest})
  target_compile_definitions(trainscope-unit-tests PRIVATE
    TRAINSCOPE_TEST_DATA="${PROJECT_SOURCE_DIR}/test/data" TRAINSCOPE_TEST_MACHINES="${ts_machines}")
  target_compile_options(trainscope-unit-tests PRIVATE -O0)  # What they test is optimised; they need not be.
  target_precompile_headers(trainscope-unit-tests PRIVATE ${TS_PRECOMPILED} <gtest/gtest.h> <gmock/gmock.h>)
  # Each test is in a namespace of its file's name, so that they can be compiled together.
  if(TRAINSCOPE_UNITY)
    set_target_properties(trainscope-unit-tests PROPERTIES UNITY_BUILD ON
                          UNITY_BUILD_BATCH_SIZE ${TRAINSCOPE_UNITY})
  endif()
  if(CMAKE_CROSSCOMPILING)
    target_link_options(trainscope-unit-tests PRIVATE -static)  # The emulator has no shared libraries.
  endif()
  set(ts_unit_timeout 180)
  if(TRAINSCOPE_SANITIZE OR CMAKE_CROSSCOMPILING)
    set(ts_unit_timeout 600)
  endif()
  # Asking for the list when the tests start, not when they are linked, is what works under an emulator.
  gtest_discover_tests(trainscope-unit-tests
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    TEST_PREFIX unit.
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES TIMEOUT ${ts_unit_timeout} LABELS unit)
endif()

# test/<folder>/test_*.py, a program each: 0 passed, 77 skipped with the reason on its last line.
# They wait more than they compute and none may depend on how busy the machine is, so they run in
# parallel. A file gets more time by a line `# ctest-timeout: 600`, and starts before those that need less.
function(ts_python_tests folder)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/${folder}/test_*.py")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    file(STRINGS "${file}" asked REGEX "^# ctest-timeout: [0-9]+$" LIMIT_COUNT 1)
    string(REGEX MATCH "[0-9]+" timeout "${asked}")
    if(NOT timeout)
      set(timeout 300)
    endif()
    math(EXPR patience "3 * ${timeout}")  # Only a test that hangs may meet it, not one beside a load.
    add_test(NAME ${folder}.${stem} COMMAND Python3::Interpreter -B "${file}"
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${folder}.${stem} PROPERTIES
      TIMEOUT ${patience} COST ${timeout} SKIP_RETURN_CODE 77 LABELS ${folder}
      ENVIRONMENT "TRAINSCOPE_BIN=$<TARGET_FILE:trainscope>;TRAINSCOPE_WORKLOAD=${PROJECT_SOURCE_DIR}/build/trainscope-workload;PYTHONPATH=${PROJECT_SOURCE_DIR}/test/support;TRAINSCOPE_TEST_LIMIT_S=${patience}")
  endforeach()
endfunction()

if(NOT CMAKE_CROSSCOMPILING AND NOT TRAINSCOPE_SANITIZE)
  foreach(folder integration truth faults statistics web)
    ts_python_tests(${folder})
  endforeach()
  # Two browsers, and recorders whose timing it tests.
  set_tests_properties(web.test_pages PROPERTIES PROCESSORS 2)
endif()

# Checks of the sources rather than of the program; once, in the release tree, is enough.
function(ts_static_check name timeout)
  add_test(NAME static.${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(static.${name} PROPERTIES
    TIMEOUT ${timeout} SKIP_RETURN_CODE 77 LABELS static
    ENVIRONMENT "TRAINSCOPE_BIN=$<TARGET_FILE:trainscope>")
endfunction()

if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CROSSCOMPILING)
  include(cmake/static-checks.cmake)
endif()

# Driver libraries that misbehave on request: of three GPUs, and of one that copies.
if(NOT CMAKE_CROSSCOMPILING AND NOT TRAINSCOPE_SANITIZE)
  add_library(fake-nvml SHARED test/gpu/fake_nvml.cpp)
  set_target_properties(fake-nvml PROPERTIES OUTPUT_NAME nvidia-ml SUFFIX ".so.1"
                        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fake-nvml")
  add_library(fake-cuda SHARED test/gpu/fake_cuda.cpp)
  set_target_properties(fake-cuda PROPERTIES OUTPUT_NAME cuda SUFFIX ".so.1"
                        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fake-nvml")
  set_property(TEST faults.test_gpu APPEND PROPERTY ENVIRONMENT
               "FAKE_NVML_FOLDER=$<TARGET_FILE_DIR:fake-nvml>")
  set_property(TEST integration.test_measure APPEND PROPERTY ENVIRONMENT
               "FAKE_CUDA_FOLDER=$<TARGET_FILE_DIR:fake-cuda>")
endif()

# Prints what src/stats computes of simulated runs.
if(NOT CMAKE_CROSSCOMPILING AND NOT TRAINSCOPE_SANITIZE)
  add_executable(statistics-effects test/statistics/effects.cpp)
  target_link_libraries(statistics-effects PRIVATE ts_stats)
  set_property(TEST statistics.test_calibration APPEND PROPERTY ENVIRONMENT
               "TRAINSCOPE_EFFECTS=$<TARGET_FILE:statistics-effects>")
endif()
