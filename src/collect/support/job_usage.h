// Usage of one process of the job, and whether its parent has absorbed that of an ended child.
//
// A parent's counters take over those of a child when it reaps the child, at an instant that is
// nowhere reported. Limits: stat shows CPU time in ticks, so that much of each child may not show.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "base/fd.h"
#include "kernel/process_tree.h"

namespace trainscope {

// The summed values, in the order of the counters' columns.
enum Amount : size_t {
  kUser,  // ns
  kSystem,
  kReadChars,
  kWriteChars,
  kReadCalls,
  kWriteCalls,
  kReadBytes,
  kWriteBytes,
  kMajor,
  kMinor,
  kAmounts
};
using Amounts = std::array<int64_t, kAmounts>;
inline constexpr size_t kFirstIo = kReadChars, kLastIo = kWriteBytes;

void add_to(Amounts& sum, const Amounts& more);

struct JobProcess {
  pid_t pid = 0;
  UniqueFd stat_fd, io_fd;
  bool alive = true;
  bool counted = true;  // false for an orphan that waits for our reaper: its account has it
  bool io_readable = true;
  bool has_stat = false;
  ProcessStat stat;
  int64_t cpu_ns = -1;
  int64_t read_ns = 0;  // when its files were read last
  int64_t own_user_ns = 0;
  Amounts now{}, before{}, before_that{};
  Amounts claimed{}, claimed_before{};
  // Page faults of children that it has reaped.
  int64_t child_faults = 0, child_faults_before = 0, child_faults_before_that = 0;

  // The counters grew by at least the usage of this ended child, beyond that of other children;
  // this much is claimed for it. The process's own work cannot be taken for it: every process has
  // page faults, and those of children are counted apart.
  bool absorb(const Amounts& child);

 private:
  int64_t grown(size_t i) const {
    return i == kMinor ? child_faults - child_faults_before_that : now[i] - before_that[i];
  }
};

}  // namespace trainscope
