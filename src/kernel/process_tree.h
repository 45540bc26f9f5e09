// Which processes belong to the job: found by parent, even if they fork, exec, call setsid or
// daemonise.
//
// Every new process has a pid after the last one assigned (from /proc/loadavg), so only those few
// are examined; their parents show whether they belong to the job. An orphan of the job becomes a
// child of our subreaper. Guarantees: parents come before their children; no folder of /proc is
// walked, except at the start of an attach and if more pids were assigned than a walk costs; a
// process that cannot be read for lack of a descriptor is found later. Limits: without a subreaper
// (attach) a process that leaves its parent between two samples is lost.
#pragma once

#include <sys/types.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
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
Status read_stat(const std::string& root, pid_t pid, ProcessStat& stat);
// Of read_stat: the process does not exist any more. After any other Error it may.
bool has_ended(const Error& error);
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
  // The source `job` looks for the job's processes; the others take what it found.
  enum class Search { own, shared };
  // `job` may be null (doctor): then the tree is this process alone.
  void open(const std::string& root, const JobProcesses* job, Search search = Search::shared);
  // Processes that joined since the last call, parents first.
  std::vector<pid_t> find_new();
  // The caller has no descriptor for this one: a later call of find_new returns it again.
  void postpone(pid_t pid);
  // Processes of the job wait for a descriptor to be found or returned.
  bool lacks_descriptors() const { return lacks_descriptors_; }
  void remove(pid_t pid) { members_.erase(pid); }
  // The last pid of the machine that was looked at.
  int64_t seen_pid() const { return position_.seen_pid; }
  pid_t reaper() const { return job_ == nullptr ? 0 : job_->reaper_pid.load(); }
  // The attached process: its work after its last sample is unknown once its parent has reaped it.
  bool is_attached_first(pid_t pid) const {
    return job_ != nullptr && reaper() == 0 && pid == job_->first_pid;
  }

 private:
  // False if nothing is known from just now.
  bool take_from_roster(std::vector<pid_t>& found);
  int64_t last_pid_given();
  void add(pid_t pid, std::vector<pid_t>& found);
  void add_first(std::vector<pid_t>& found);
  bool is_ours(pid_t pid, const ProcessStat& stat) const;
  Result<std::vector<pid_t>> candidates(int64_t last) const;
  // False if there was no descriptor to examine all new pids.
  bool search(std::vector<pid_t>& found);
  void search_again_later();

  // How far the tree is known.
  struct Position {
    int64_t seen_pid = 0;
    pid_t first = 0;
    bool has_grown = false;  // the job was there before us
  };

  std::string root_;
  const JobProcesses* job_ = nullptr;
  const JobRoster* roster_ = nullptr;
  ProcFile loadavg_;
  int64_t pid_max_ = 32768;
  Position position_, position_before_;  // now and before the last search
  int64_t search_began_ns_ = 0, next_search_ns_ = 0;
  bool lacks_descriptors_ = false;
  std::unordered_set<pid_t> members_;
  // Start times of members of the roster: of those that were found in it, removed ones included.
  std::unordered_map<pid_t, int64_t> known_;
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
  std::string root_;
  ProcessTree tree_;
  std::map<pid_t, ProcessStat> members_;
};

}  // namespace trainscope
