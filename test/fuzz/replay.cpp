// Runs a fuzz target over the files of its corpus, so that what a fuzzer once found stays mended
// where there is no libFuzzer. An empty input is always tried; a missing corpus folder is an empty
// one.
//
//   fuzz-replay TARGET FOLDER
#include "replay.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

int replay(const FuzzTarget& target, const std::filesystem::path& corpus) {
  target.test_one_input(nullptr, 0);
  int inputs = 1;
  if (std::filesystem::is_directory(corpus)) {
    for (const auto& file : std::filesystem::directory_iterator(corpus)) {
      const std::vector<std::uint8_t> bytes = read_file(file.path());
      std::fprintf(stderr, "%s\n", file.path().c_str());
      target.test_one_input(bytes.data(), bytes.size());
      ++inputs;
    }
  }
  std::printf("%d inputs replayed\n", inputs);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    for (const FuzzTarget& target : fuzz_targets()) {
      if (std::strcmp(target.name, argv[1]) == 0) return replay(target, argv[2]);
    }
  }
  std::fprintf(stderr, "usage: fuzz-replay TARGET FOLDER\n");
  return 2;
}
