// The living processes of the job, their CPU time, and which of them load data for another one.
//
// Guarantees: a process that does nothing new costs one system call per refresh and no file; names
// and command lines are read when a process is found, soon afterwards, and then ever more rarely,
// because a process may be renamed; where it may turn out to be a worker, every few seconds at
// first, at most ten times per second for all. Limits: a pid that was reused by a process with more
// CPU time is noticed only when a role is given to it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/process_tree.h"

namespace trainscope {

struct RoleCandidate {
  pid_t pid = 0, parent = 0;
  int64_t start_ticks = 0;
  int64_t born_ns = 0;  // exact to 10 ms
  bool is_old = false;  // it was there before the recording, with an unknown past
  int64_t cpu_ns = 0;
  bool is_worker = false;
  // Not yet a worker: a program that is just being started looks the same for a moment.
  bool looks_like_worker = false;
  bool is_compiler = false;
  // How often it was seen to be a process of multiprocessing that may load data or not.
  int undecided_looks = 0;
  int64_t next_look_ns = 0, look_pause_ns = 0;

  bool may_be_main() const;
};

class RoleCandidates {
 public:
  void open(const std::string& root, const JobProcesses* job);
  // Drops processes that have ended, adds those that have joined.
  void refresh(int64_t now_ns);
  std::vector<RoleCandidate>& all() { return candidates_; }
  RoleCandidate* find(pid_t pid);
  void drop(pid_t pid);
  // When a process began that was not there at the last refresh.
  int64_t birth(int64_t start_ticks, int64_t now_ns) const;

 private:
  void take_new(int64_t now_ns);
  // -1 if it has ended.
  int64_t cpu_ns(const RoleCandidate& candidate) const;
  void look_at(RoleCandidate& candidate, int64_t now_ns);
  void note_undecided(RoleCandidate& candidate, bool is_undecided) const;

  std::string root_;
  ProcessTree tree_;
  int64_t ns_per_tick_ = 10'000'000;
  bool finds_old_ = false;
  int64_t refreshed_ns_ = 0;
  std::vector<RoleCandidate> candidates_;
};

}  // namespace trainscope
