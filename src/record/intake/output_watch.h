// Wakes the follower of files when a process writes to them or opens them (inotify).
//
// Guarantees: every write after the constructor is noticed, or reason() states why not. Limits:
// writes of another machine to a shared file system are not noticed.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"

namespace trainscope {

class OutputWatch {
 public:
  // `files`: descriptors; they may be closed afterwards.
  explicit OutputWatch(const std::vector<int>& files);

  int fd() const { return fd_.get(); }  // to be polled for reading; -1: none
  // Why writes are not noticed; empty when they are, or when there is nothing to watch.
  const std::string& reason() const { return reason_; }
  // Consumes pending events; true if a process has opened one of the files.
  bool take_events();

 private:
  UniqueFd fd_;
  std::string reason_;
};

}  // namespace trainscope
