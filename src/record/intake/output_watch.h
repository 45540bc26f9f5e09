// Wakes whoever follows files when somebody writes to them or opens them (inotify).
//
// Guarantees: what is written after the constructor is noticed, or reason() says why it cannot be.
// Limits: writes of another machine to a shared file system are not noticed.
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
  // Takes what has happened; true when somebody has opened one of the files.
  bool take_events();

 private:
  UniqueFd fd_;
  std::string reason_;
};

}  // namespace trainscope
