// Files of a measurement in a folder of the user's.
//
// Guarantees: a scratch file has no name, so that nothing is left of it however the process ends; a
// scratch folder is removed with its files by the object, or, if the process was killed, by the
// next measurement of this user on this host in the same place. Nothing follows a name that
// somebody else exchanged. Limits: two measurements of one user on one host in the same place at
// the same time disturb each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace trainscope {

// A file without a name in this folder, for reads and writes that bypass the page cache. The Error
// names the folder, the reason and a remedy.
Result<UniqueFd> make_scratch_file(const std::string& folder);

// A folder of empty files. Every call may hang on a file system that does not respond.
class ScratchFolder {
 public:
  static constexpr size_t kMostFiles = 128;

  ScratchFolder() = default;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { remove(); }

  // Creates it in this folder, or takes over what a killed measurement left there.
  Status make(const std::string& folder);
  // The file with this number, below kMostFiles; 0 or an errno.
  int create_file(size_t number);
  int open_and_close(size_t number) const;
  // With all files in it.
  void remove();

 private:
  std::string name_;
  std::vector<std::string> files_;
  UniqueFd parent_, folder_;
  size_t created_ = 0;
};

}  // namespace trainscope
