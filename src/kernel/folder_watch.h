// Detects cheaply whether the names in a folder of /sys have changed.
//
// Guarantees: changed() does not allocate. Limits: it compares a 64-bit sum of hashes, so two
// changes that cancel each other out are missed with a probability of 2^-64; names only, not the
// content.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace trainscope {

class FolderWatch {
 public:
  // A folder that is not there is watched as an empty one that never changes.
  void open(const std::string& path);
  // True if the names differ from those at open() or at the last call that returned true.
  bool changed();

 private:
  uint64_t fingerprint();
  UniqueFd fd_;
  std::vector<char> buffer_;
  uint64_t known_ = 0;
};

}  // namespace trainscope
