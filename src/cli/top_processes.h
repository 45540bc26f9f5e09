// The processes of a running job for the screen of `top`, read from /proc.
//
// Guarantees: a process is shown only if it descends from the process that the run states, on the
// same boot of the same machine and with the same start time, or is an orphan of it; reads at most
// once per second, and nothing unless it is asked. Limits: without a supervisor (it was killed, or
// `attach`) a process that left its parent is not found; CPU time is exact to a tick of the kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/process_tree.h"
#include "model/job_process.h"
#include "model/model.h"
#include "tui/tui.h"

namespace trainscope {

// Where the job of a run is, by what the run states.
struct JobPlace {
  bool is_running = false;
  std::string host_name, boot_id;
  int64_t supervisor_pid = 0, supervisor_start_ticks = 0;  // 0: the job is not below it (attach)
  std::optional<JobProcess> first;
};
JobPlace job_place(const RunView& run);

// This process, as far as it decides whose processes it can see.
struct Onlooker {
  std::string boot_id;
  int64_t pid_namespace = 0;
  static Onlooker ours();
};

class JobProcessReader {
 public:
  explicit JobProcessReader(std::string root = "", Onlooker onlooker = Onlooker::ours());

  // The processes that contain these words, the busiest first.
  TopProcesses read(const JobPlace& place, const std::string& filter, int64_t now_ns);

 private:
  struct Known {
    int64_t start_ticks = 0, cpu_ticks = 0;
    std::optional<double> cpu;  // cores, since the reading before
    std::string name, command;
    ProcessStat stat;
    bool is_worker = false, is_compiler = false, is_main = false;
    int undecided_looks = 0;  // how often it may have been a worker or not
    int64_t look_due_ns = 0, look_pause_ns = 0;
  };

  std::string why_unseen(const JobPlace& place) const;
  bool is_alive(int64_t pid, int64_t start_ticks) const;
  pid_t ancestor_of(const JobPlace& place) const;
  bool is_of_job(pid_t pid, const ProcessStat& stat, const JobPlace& place) const;
  void refresh(const JobPlace& place, int64_t now_ns);
  void update(Known& known, pid_t pid, const ProcessStat& stat, double elapsed_s);
  void look_at_some(int64_t now_ns);
  void elect_main();
  TopProcesses rows(const std::string& filter) const;

  const std::string root_;
  const Onlooker onlooker_;
  JobProcesses job_;
  JobMembers members_;
  pid_t ancestor_ = 0;
  std::map<pid_t, Known> known_;
  int64_t read_ns_ = 0;  // 0: never
};

}  // namespace trainscope
