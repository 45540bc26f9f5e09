// Starts the programs that a source reads from (trainscope-gpu, tegrastats, mmpmon): the only place
// where the recorder executes anything except the job.
//
// Guarantees: a helper has a fixed small environment and nothing of the job's, works in `/`, is
// started by its absolute path, has only the descriptors of its plan, its own process group (Ctrl-C
// is for the job) and none of our blocked or ignored signals; it ends with the thread that started
// it. As root it keeps only the capabilities that drivers need. Limits: a helper that hangs in the
// kernel is abandoned.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace trainscope {

struct HelperPlan {
  std::string program;                 // an absolute path; PATH is never searched
  std::vector<std::string> arguments;  // without the program's own name
  int in = -1, out = -1, err = -1;     // standard input, output and error; -1: /dev/null
  int socket = -1;                     // becomes descriptor 3
  bool keeps_all_capabilities = false;
};

class HelperProcess {
 public:
  HelperProcess() = default;
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;
  ~HelperProcess() { end(); }

  // Returns once the program has been executed; an Error when it could not be.
  Status start(const HelperPlan& plan);
  pid_t pid() const { return pid_; }  // 0: not running
  // Reaps it when it has ended.
  bool is_running();
  // Lets it end by itself for so long, then kills it and all of its group.
  void end(int patience_ms = 0);

 private:
  bool wait_for_end(int limit_ms);

  pid_t pid_ = 0;
};

// The program of this name in the folder of our own executable.
Result<std::string> program_beside_ours(const std::string& name);

// The environment of every helper, as NAME=value: PATH and LC_ALL, and the absolute folders of the
// caller's own LD_LIBRARY_PATH, where containers have the GPU driver's library.
std::vector<std::string> helper_environment();

}  // namespace trainscope
