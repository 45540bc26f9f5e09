// Files of a measurement in a folder of the user's.
//
// Guarantees: a scratch file has no name, so that nothing is left of it however the process ends; a
// scratch folder is removed with its files when the object goes, for which HeldSignals holds back
// what would end the process.
#pragma once

#include <signal.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace trainscope {

// Holds back SIGINT, SIGTERM, SIGHUP and SIGQUIT as long as it exists; one that came ends the
// process afterwards as it would have. Create it before the threads of the measurement.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

  // Waits for so long, or until one of them comes: then false, from now on.
  bool wait(int64_t time_ns);
  bool is_interrupted() const { return caught_ != 0; }

 private:
  sigset_t held_{}, before_{};
  int caught_ = 0;
};

// A file without a name in this folder, for reads and writes that bypass the page cache. The Error
// names the folder, the reason and a remedy.
Result<UniqueFd> make_scratch_file(const std::string& folder);

// A new folder of files in this folder.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make(const std::string& folder, size_t files);
  ScratchFolder(ScratchFolder&&) = default;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::vector<std::string>& files() const { return files_; }

 private:
  ScratchFolder() = default;

  std::string path_;  // empty after a move
  std::vector<std::string> files_;
};

}  // namespace trainscope
