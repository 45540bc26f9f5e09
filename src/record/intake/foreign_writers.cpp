#include "record/intake/foreign_writers.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "kernel/pid_namespace.h"
#include "kernel/process_tree.h"
#include "record/intake/open_files.h"

namespace trainscope {

namespace {

constexpr int64_t kManyPids = 500;  // more new ones than this: all are walked
// Walks over all processes may take a hundredth of the time, and so may judging those that have the
// file open.
constexpr int64_t kCostShare = 100, kWalkSoonest = 100'000'000;

int64_t last_pid_given() {
  const auto text = read_line("/proc/loadavg");
  if (!text) return -1;
  const std::vector<std::string_view> words = fields(*text);
  return words.empty() ? -1 : parse_integer(words.back()).value_or(-1);
}

}  // namespace

ForeignWriters::ForeignWriters(pid_t supervisor, std::vector<pid_t> others,
                               const std::vector<int>& followed, CpuClock cpu_clock)
    : supervisor_(supervisor), family_(supervisor, std::move(others)), cpu_clock_(cpu_clock) {
  if (!followed.empty() && !shows_our_pids("")) {
    doubt_ = "who writes to the output file is not known: /proc is of another PID namespace";
    return;
  }
  for (const int fd : followed) {
    struct stat st {};
    const std::string path = fmt::format("/proc/{}/fd/{}", supervisor, fd);
    if (::stat(path.c_str(), &st) != 0) continue;
    files_.push_back({{fd}, file_name_of(supervisor, fd), st.st_dev, st.st_ino});
    // Followed once, but opened twice: cmd >> log 2>> log.
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
      if (standard != fd && is_same_file(supervisor, standard, files_.back())) {
        files_.back().fds.push_back(standard);
      }
    }
  }
}

bool ForeignWriters::is_shared_with_the_job(pid_t pid, int fd) const {
  for (const File& file : files_) {
    for (const int ours : file.fds) {
      if (is_same_open_file(supervisor_, ours, pid, fd)) return true;
    }
  }
  return false;
}

std::optional<std::string> ForeignWriters::look(bool was_opened, int64_t bytes, bool at_once) {
  if (files_.empty() || !family_.is_supervised()) return std::nullopt;
  // Renamed or removed, it has another name wherever it is open.
  for (File& file : files_) file.name = file_name_of(supervisor_, file.fds.front());
  find_all_holders(was_opened, bytes);
  std::optional<std::string> found;
  if (at_once || monotonic_ns() >= next_judging_ns_) {
    const int64_t begin_cpu = cpu_clock_();
    found = judge_all(bytes);
    next_judging_ns_ = monotonic_ns() + kCostShare * (cpu_clock_() - begin_cpu);
  }
  seen_bytes_ = bytes;
  return found;
}

void ForeignWriters::find_all_holders(bool was_opened, int64_t bytes) {
  const int64_t begin_cpu = cpu_clock_();
  const Candidates candidates = pids_to_look_at(was_opened);
  for (const pid_t pid : candidates.pids) find_holders(pid, candidates.are_new, bytes);
  if (candidates.are_new) return;
  next_walk_ns_ = monotonic_ns() + std::max(kWalkSoonest, kCostShare * (cpu_clock_() - begin_cpu));
}

std::optional<std::string> ForeignWriters::judge_all(int64_t bytes) {
  for (auto it = holders_.begin(); it != holders_.end();) {
    const auto writes = judge(*it, bytes);
    if (!writes) {
      it = holders_.erase(it);
      continue;
    }
    // Checked again at the end: if the supervisor died in between, its children belong to another
    // process.
    const bool is_foreign =
        *writes != Writes::no && !family_.is_of_the_job(it->pid) && family_.is_supervised();
    if (is_foreign && *writes == Writes::perhaps && !doubt_) {
      doubt_ = fmt::format(
          "process {} ({}) shares the output file and is writing, perhaps only to pipes or sockets",
          it->pid, command_name(it->pid));
    }
    if (is_foreign && *writes == Writes::yes) {
      return fmt::format("process {} ({}) outside the job writes to the same file", it->pid,
                         command_name(it->pid));
    }
    ++it;
  }
  return std::nullopt;
}

// A descriptor comes into being by opening the file, or with a process that inherits it.
ForeignWriters::Candidates ForeignWriters::pids_to_look_at(bool was_opened) {
  const int64_t now = monotonic_ns(), last = last_pid_given(), before = seen_pid_;
  const bool are_many = last < before || before < 0 || last - before > kManyPids;
  wants_walk_ = wants_walk_ || was_opened || are_many;
  if (wants_walk_ && now >= next_walk_ns_) {
    wants_walk_ = false;
    seen_pid_ = last;
    return {all_pids(""), false};
  }
  Candidates some{{}, true};
  if (are_many) return some;
  seen_pid_ = last;
  for (int64_t pid = before + 1; pid <= last; ++pid) some.pids.push_back(static_cast<pid_t>(pid));
  return some;
}

bool ForeignWriters::is_same_file(pid_t pid, int fd, const File& file) const {
  if (file_name_of(pid, fd) != file.name) return false;
  struct stat st {};
  return ::stat(fmt::format("/proc/{}/fd/{}", pid, fd).c_str(), &st) == 0 &&
         st.st_dev == file.device && st.st_ino == file.inode;
}

// Whether a process is of the job is asked last: it takes longer than a look at its descriptors.
void ForeignWriters::find_holders(pid_t pid, bool is_new, int64_t bytes) {
  for (const int fd : descriptors_of(pid)) {
    for (const File& file : files_) {
      const bool known = std::any_of(holders_.begin(), holders_.end(), [&](const Holder& holder) {
        return holder.pid == pid && holder.fd == fd && holder.file == &file;
      });
      if (known || !is_same_file(pid, fd, file)) continue;
      if (family_.is_of_the_job(pid)) return;
      add_holder(pid, fd, file, is_new, bytes);
    }
  }
}

void ForeignWriters::add_holder(pid_t pid, int fd, const File& file, bool is_new, int64_t bytes) {
  const auto open = open_file_of(pid, fd);
  ProcessStat stat;
  const bool counts = open && open->is_writable() && is_process("", pid);
  if (!counts || !read_stat("", pid, stat)) return;
  Holder holder{
      pid,  stat.start_ticks, fd, &file, is_shared_with_the_job(pid, fd), open->position, 0, 0,
      bytes};
  // Among the many processes that share the file, those that print to it; a parent that waits for
  // the run usually writes elsewhere, to its own pipes and sockets.
  if (holder.is_shared && (fd != STDOUT_FILENO || family_.is_parent_of_the_run(pid))) return;
  if (holder.is_shared && is_new) {
    holder.bytes = seen_bytes_;  // it was not there at the last look: all it wrote is new
  } else {
    holder.written = written_by(pid);
    if (holder.is_shared) holder.written_elsewhere = written_elsewhere_by(pid, file.name).bytes;
  }
  holders_.push_back(holder);
}

std::optional<ForeignWriters::Writes> ForeignWriters::judge(Holder& holder, int64_t bytes) const {
  ProcessStat stat;
  const bool alive = read_stat("", holder.pid, stat) && stat.start_ticks == holder.start_ticks;
  if (!alive) return std::nullopt;
  return holder.is_shared ? judge_sharer(holder, bytes) : judge_opener(holder);
}

// The process that moved the position, perhaps an ended child, is not of the job. Only the first
// move, from 0, may be something other than writing: open(…, 'a') seeks to the end.
std::optional<ForeignWriters::Writes> ForeignWriters::judge_opener(Holder& holder) const {
  const auto now = open_file_of(holder.pid, holder.fd);
  if (!now) return std::nullopt;
  if (now->position == holder.position) return Writes::no;
  if (!is_same_file(holder.pid, holder.fd, *holder.file)) return std::nullopt;
  const bool went_to_end = holder.position == 0 && written_by(holder.pid) <= holder.written;
  holder.position = now->position;
  return went_to_end ? Writes::no : Writes::yes;
}

// Most of those that share a file never write: nothing else is asked of them.
std::optional<ForeignWriters::Writes> ForeignWriters::judge_sharer(Holder& holder,
                                                                   int64_t bytes) const {
  const bool grew = bytes > std::exchange(holder.bytes, bytes);
  const int64_t written = written_by(holder.pid), more = written - holder.written;
  if (more <= 0) return Writes::no;
  if (!is_same_file(holder.pid, holder.fd, *holder.file)) return std::nullopt;
  const WrittenElsewhere elsewhere = written_elsewhere_by(holder.pid, holder.file->name);
  const bool wrote = more > std::max<int64_t>(0, elsewhere.bytes - holder.written_elsewhere);
  holder.written = written;
  holder.written_elsewhere = elsewhere.bytes;
  holder.has_channels = holder.has_channels || elsewhere.may_be_more;
  if (!wrote || !grew || RunFamily::is_trainscope(holder.pid)) return Writes::no;
  return holder.has_channels && !family_.is_of_another_run(holder.pid) ? Writes::perhaps
                                                                       : Writes::yes;
}

}  // namespace trainscope
