// Finds processes outside the job that write to the job's output file.
//
// Lines of another run or program in the same file must not be taken for this job's. Having the
// file open is not writing: a batch script and everything that it starts have it open. Evidence:
//   - an open file that the job does not share: its position (/proc/PID/fdinfo) has moved;
//   - one that it shares, whose position does not show the writer: a process with this file as its
//     standard output has written (/proc/PID/io) while the file grew, and not to other files that
//     it has open. If it has its own pipes, sockets or devices, it may have written there: that is
//     a doubt, not evidence, unless it is the job of another run.
// A wrong "yes" costs all printed steps of the run, also earlier ones (no line of the output counts
// then); a wrong "no" counts lines of others as the job's. Hence a doubt is only a note.
// Guarantees: a result never changes once it is known; processes of the job, however it forks,
// those that wait for the run (its parents), and supervisors and recorders of other runs never
// count as foreign. Cost: every process once at the start and when a process opens the file;
// otherwise new processes and those that have it open, when the file grew. Many of them are looked
// at less often, so that it takes 1 % of a CPU. Limits: processes of other users, of other machines
// and of containers that we do not see; one that opens the file, writes and ends between two
// checks; one that shares it and writes to a stderr that is a pipe or a terminal counts as a
// writer; one that shares it, seldom writes, and also shares another file that others write to,
// does not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "record/intake/run_family.h"

namespace trainscope {

class ForeignWriters {
 public:
  using CpuClock = int64_t (*)();
  // `followed`: the supervisor's descriptors of these files. `others`: children of the supervisor
  // that do not belong to the job.
  ForeignWriters(pid_t supervisor, std::vector<pid_t> others, const std::vector<int>& followed,
                 CpuClock cpu_clock = thread_cpu_ns);

  // One look. `was_opened`: somebody has opened such a file since the last one. `bytes`: how much
  // was written to them so far. `at_once`: those that are known are judged however soon it is. A
  // sentence about the first writer that is found.
  std::optional<std::string> look(bool was_opened, int64_t bytes, bool at_once = false);
  // A sentence about the first one that may have written, once there is one.
  const std::optional<std::string>& doubt() const { return doubt_; }

 private:
  struct File {
    std::vector<int> fds;  // the supervisor's, which are also the job's: stdout, stderr or both
    std::string name;
    dev_t device = 0;
    ino_t inode = 0;
  };
  struct Holder {
    pid_t pid = 0;
    int64_t start_ticks = 0;
    int fd = -1;
    const File* file = nullptr;
    bool is_shared = false;  // the same open file as the job's
    int64_t position = 0;
    int64_t written = 0, written_elsewhere = 0, bytes = 0;
    bool has_channels = false;  // it also has a writable file without a position
  };
  enum class Writes { no, perhaps, yes };
  struct Candidates {
    std::vector<pid_t> pids;
    bool are_new = false;  // they were not there at the last look
  };
  void find_all_holders(bool was_opened, int64_t bytes);
  std::optional<std::string> judge_all(int64_t bytes);
  Candidates pids_to_look_at(bool was_opened);
  void find_holders(pid_t pid, bool is_new, int64_t bytes);
  void add_holder(pid_t pid, int fd, const File& file, bool is_new, int64_t bytes);
  // Whether a process writes to the file. Stores its current counters for the next check; nothing
  // if it no longer has the file open.
  std::optional<Writes> judge(Holder& holder, int64_t bytes) const;
  std::optional<Writes> judge_opener(Holder& holder) const;
  std::optional<Writes> judge_sharer(Holder& holder, int64_t bytes) const;
  bool is_same_file(pid_t pid, int fd, const File& file) const;
  bool is_shared_with_the_job(pid_t pid, int fd) const;

  pid_t supervisor_;
  RunFamily family_;
  CpuClock cpu_clock_;
  std::vector<File> files_;
  std::vector<Holder> holders_;
  std::optional<std::string> doubt_;
  int64_t seen_pid_ = -1;
  int64_t next_walk_ns_ = 0, next_judging_ns_ = 0;
  int64_t seen_bytes_ = 0;
  bool wants_walk_ = true;
};

}  // namespace trainscope
