// Which processes belong to the run: the job, what waits for the run, and other runs.
//
// By parents in /proc at the time of the question. Limits: without the supervisor, the job's
// orphans cannot be identified; every answer about the job is then wrong (see is_supervised).
#pragma once

#include <sys/types.h>

#include <utility>
#include <vector>

namespace trainscope {

class RunFamily {
 public:
  // `others`: children of the supervisor that do not belong to the job.
  RunFamily(pid_t supervisor, std::vector<pid_t> others)
      : supervisor_(supervisor), others_(std::move(others)) {}

  // Is the supervisor alive, and we its child or itself?
  bool is_supervised() const;
  // The job, the supervisor and we; also a process that has ended.
  bool is_of_the_job(pid_t pid) const;
  bool is_parent_of_the_run(pid_t pid) const;
  // The job of another run that has our file as its output: whatever channels it has, it prints.
  bool is_of_another_run(pid_t pid) const;
  // A supervisor or recorder, which write to their own pipes and eventfds only; also a job's first
  // process until it executes its program.
  static bool is_trainscope(pid_t pid);

 private:
  pid_t supervisor_;
  std::vector<pid_t> others_;
};

}  // namespace trainscope
