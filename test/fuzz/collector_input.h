// Feeds a fuzzer's bytes to a collector as the text of one kernel file: the bytes before
// the first zero byte when it opens the file, the bytes after it when it samples.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "collect/collect.h"

namespace trainscope {

// One folder for the whole search; files keep their inodes.
struct FuzzRoot {
  FuzzRoot() {
    const bool memory = std::filesystem::is_directory("/dev/shm");
    path = std::string(memory ? "/dev/shm" : "/tmp") + "/trainscope-fuzz-XXXXXX";
    CHECK(::mkdtemp(path.data()) != nullptr);
  }
  FuzzRoot(const FuzzRoot&) = delete;
  FuzzRoot& operator=(const FuzzRoot&) = delete;
  ~FuzzRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

inline const std::string& fuzz_root() {
  static const FuzzRoot root;
  return root.path;
}

inline void write_input(const std::string& file, std::string_view text) {
  const std::string path = fuzz_root() + file;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

inline void feed_collector(const Collector& collector, const std::string& file, const uint8_t* data,
                           size_t size, const JobLink* job = nullptr) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t zero = all.find('\0');
  const std::string_view first = all.substr(0, zero);
  const std::string_view second = zero == std::string_view::npos ? first : all.substr(zero + 1);
  SourceContext context;
  context.root = fuzz_root();
  context.run_folder = "/home/run";
  context.job = job;
  write_input(file, first);
  const auto source = collector.make();
  for (int round = 0; round < 2; ++round) {
    std::vector<int64_t> values(source->open(context).columns.size(), kAbsent);
    source->sample(values);
    write_input(file, second);
    if (source->sample(values) == Sampled::ok) break;
  }
}

}  // namespace trainscope
