// A program that replies in lines: started once, queried repeatedly, with a deadline for each
// query.
//
// Guarantees: ask() returns within its deadline; a program that ended or does not reply is ended
// and has to be started again; those of helper_process.h. Limits: one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "collect/support/programs/helper_process.h"

namespace trainscope {

class LineProcess {
 public:
  LineProcess() = default;
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;
  ~LineProcess() { end(); }

  // A program that replies to root only keeps all of root's rights.
  Status start_as_root(const std::string& program, const std::vector<std::string>& arguments);
  bool is_running() const { return helper_.pid() > 0; }
  // Writes the query and collects lines until none has come for `quiet_ns` after the first. An
  // Error if there is none within `deadline_ns`.
  Result<std::string> ask(std::string_view question, int64_t deadline_ns, int64_t quiet_ns);
  void end();

 private:
  HelperProcess helper_;
  UniqueFd to_, from_;
};

}  // namespace trainscope
