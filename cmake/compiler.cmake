# Language, warnings and link mode: the same for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# CHECK stays on in release, so nothing may depend on NDEBUG; -O2 rather than CMake's -O3 keeps it small.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

add_compile_options(-Wall -Wextra -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Werror)
else()
  add_compile_options(-Wno-sign-conversion)  # clang counts it to -Wconversion, g++ does not.
endif()
include_directories("${PROJECT_SOURCE_DIR}/src" "${CMAKE_BINARY_DIR}/generated")

# Programs name source files relative to the project: where it was built does not change their bytes.
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-Wl,--gc-sections -s)
endif()
if(TRAINSCOPE_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

if(TRAINSCOPE_SANITIZE)
  add_compile_options("-fsanitize=${TRAINSCOPE_SANITIZE}" -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${TRAINSCOPE_SANITIZE}")
endif()
if(TRAINSCOPE_STATIC AND TRAINSCOPE_SANITIZE)
  message(FATAL_ERROR "a sanitizer cannot be linked static: set TRAINSCOPE_STATIC=OFF")
endif()

# Linker warnings are errors: they are how glibc says that a call (getaddrinfo, getpwnam, dlopen) would
# need its shared libraries after all.
function(ts_link_static target)
  if(TRAINSCOPE_STATIC)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/no_dlopen.cpp")
    target_link_options(${target} PRIVATE -static -Wl,--wrap=dlopen -Wl,--fatal-warnings)
  endif()
endfunction()

# Dynamic, but with our C++ library inside and nothing of glibc that is newer than 2.34. libgcc stays
# shared: the archive's unwinder asks for _dl_find_object of glibc 2.35.
function(ts_link_portable target)
  if(TRAINSCOPE_STATIC)
    target_link_options(${target} PRIVATE -static-libstdc++ -shared-libgcc -no-pie)
  endif()
endfunction()
