// Which processes belong to the job: found by parent, even if they fork, exec, call setsid or
// daemonise.
//
// Every new process has a pid after the last one assigned (from /proc/loadavg), so only those few
// are examined; their parents show whether they belong to the job. An orphan of the job becomes a
// child of our subreaper. Guarantees: parents come before their children; no folder of /proc is
// walked, except at the start of an attach and if more pids were assigned than a walk costs.
// Limits: without a subreaper (attach) a process that leaves its parent between two samples is
// lost.
#pragma once

#include <sys/types.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kernel/job_processes.h"
#include "kernel/proc_file.h"

namespace trainscope {

// The fields of /proc/PID/stat that anybody here needs.
struct ProcessStat {
  char state = '?';
  pid_t parent = 0;
  int64_t minor_faults = 0, child_minor_faults = 0, major_faults = 0, child_major_faults = 0;
  int64_t user_ticks = 0, system_ticks = 0, child_user_ticks = 0, child_system_ticks = 0;
  int64_t threads = 0, start_ticks = 0, resident_pages = 0;
};
bool parse_stat(std::string_view text, ProcessStat& stat);
bool read_stat(const std::string& root, pid_t pid, ProcessStat& stat);
// Threads have pids too: only a group's leader is a process.
bool is_process(const std::string& root, pid_t pid);

// Every process that this one can see, in order.
std::vector<pid_t> all_pids(const std::string& root);
// Every process below `ancestor`, parents first, itself not; without `except` and the processes
// below them.
std::vector<pid_t> descendants(const std::string& root, pid_t ancestor,
                               std::span<const pid_t> except = {});
// The children that this process has now; it must have one thread.
std::vector<pid_t> own_children();

class ProcessTree {
 public:
  // `job` may be null (doctor): then the tree is this process alone.
  void open(const std::string& root, const JobProcesses* job);
  // Processes that joined since the last call, parents first.
  std::vector<pid_t> find_new();
  void remove(pid_t pid) { members_.erase(pid); }
  pid_t reaper() const { return job_ == nullptr ? 0 : job_->reaper_pid.load(); }
  // The attached process: its work after its last sample is unknown once its parent has reaped it.
  bool is_attached_first(pid_t pid) const {
    return job_ != nullptr && reaper() == 0 && pid == job_->first_pid;
  }

 private:
  int64_t last_pid_given();
  void add(pid_t pid, std::vector<pid_t>& found);
  void add_first(std::vector<pid_t>& found);
  bool is_ours(pid_t pid, const ProcessStat& stat) const;
  std::vector<pid_t> candidates(int64_t last) const;

  std::string root_;
  const JobProcesses* job_ = nullptr;
  ProcFile loadavg_;
  int64_t seen_pid_ = 0;
  int64_t pid_max_ = 32768;
  pid_t first_ = 0;
  bool has_grown_ = false;  // the job was there before us
  std::unordered_set<pid_t> members_;
};

// The living processes of the job, for a source that is read now and then: ended processes, and
// others that reuse their pids, are recognised by the start time.
class JobMembers {
 public:
  void open(const std::string& root, const JobProcesses* job);
  // Reads every member again, drops those that have ended and adds those that have joined.
  void refresh();
  const std::map<pid_t, ProcessStat>& all() const { return members_; }

 private:
  bool is_alive(pid_t pid, ProcessStat& stat) const;
  std::string root_;
  ProcessTree tree_;
  std::map<pid_t, ProcessStat> members_;
};

}  // namespace trainscope
