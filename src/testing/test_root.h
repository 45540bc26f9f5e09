// For tests: the /proc and /sys trees of fixture machines, to read or to change.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/fd.h"
#include "testing/temporary_folder.h"

namespace trainscope {

// test/data/roots/<machine>.tar, as the build unpacks it.
inline std::string machine_root(const std::string& machine) {
  return std::string(TRAINSCOPE_TEST_MACHINES) + "/" + machine;
}

// A tree in a temporary folder.
class TestRoot {
 public:
  TestRoot() = default;
  // A copy of such a machine, to change.
  explicit TestRoot(const std::string& machine) {
    std::filesystem::copy(
        machine_root(machine), path(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  }

  const std::string& path() const { return folder_.path(); }
  std::string at(const std::string& file) const { return path() + file; }
  // Into the same inode, so that a source that has it open sees the new text.
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(at(file)).parent_path());
    std::ofstream(at(file), std::ios::binary | std::ios::trunc) << text;
  }
  std::string text(const std::string& file) const { return *read_file(at(file)); }
  void remove(const std::string& file) const { std::filesystem::remove_all(at(file)); }

 private:
  TemporaryFolder folder_;
};

}  // namespace trainscope
