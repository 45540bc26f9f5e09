// A stand-in until the real command line is here: it only proves the build.
#include <cstdio>
#include <string_view>

#include "version.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::printf("trainscope %.*s\n", static_cast<int>(trainscope::kVersion.size()),
                trainscope::kVersion.data());
    return 0;
  }
  std::fputs("usage: trainscope --version\n", stderr);
  return 2;
}
