// A program that prints lines for us: started, read without blocking, killed at the end.
//
// Guarantees: those of helper_process.h. Limits: a line of more than 64 KiB is dropped.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "collect/support/programs/helper_process.h"

namespace trainscope {

class ChildLines {
 public:
  ChildLines() = default;
  ChildLines(const ChildLines&) = delete;
  ChildLines& operator=(const ChildLines&) = delete;
  ~ChildLines() { stop(); }

  // Its standard output is read; standard error and input are /dev/null.
  Status start(const std::string& program, const std::vector<std::string>& arguments);
  // Kills and reaps it.
  void stop();
  bool is_running() const { return static_cast<bool>(out_); }
  // The newest complete line since the last call; false if there is none. After the end of its
  // output is_running() is false.
  bool newest_line(std::string& line);
  // The same, waiting at most so long.
  bool wait_for_line(std::string& line, int64_t timeout_ns);

 private:
  void take_all();
  HelperProcess helper_;
  UniqueFd out_;
  std::string buffer_;
};

}  // namespace trainscope
