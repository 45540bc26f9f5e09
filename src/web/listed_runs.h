// The list of all runs, for pages that ask for it again and again.
//
// Guarantees: the same as `list --json` prints. A run that has ended is read once, and again when
// its manifest was replaced (`edit`, its verdict): a home of 10,000 runs costs one stat for each.
// May be used from several threads. Limits: damage to the samples of a run that has ended is
// noticed when the server starts, or when the run is opened.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/result.h"

namespace trainscope {

class ListedRuns {
 public:
  explicit ListedRuns(std::string home) : home_(std::move(home)) {}

  Result<std::string> document();

 private:
  struct Kept {
    std::string manifest;  // which one it was read with
    std::string text;
  };
  std::string text_of(const std::string& name);

  const std::string home_;
  std::mutex mutex_;                  // files are looked at without it
  std::map<std::string, Kept> kept_;  // by the name of the folder
};

}  // namespace trainscope
