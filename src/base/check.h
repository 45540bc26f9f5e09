// CHECK(condition): stops the program at an internal error, in release builds too.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace trainscope {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "trainscope: internal error: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace trainscope

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) ::trainscope::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
