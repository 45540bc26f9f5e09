#include "record/intake/foreign_writers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "kernel/process_tree.h"

namespace trainscope {

namespace {

constexpr int64_t kManyPids = 500;  // more new ones than this: all are walked
// A walk over all processes may take a hundredth of the time.
constexpr int64_t kWalkShare = 100, kWalkSoonest = 100'000'000;
constexpr int kMaxAncestors = 1000;

// The base name of the file of a process's descriptor.
std::string file_name_of(pid_t pid, int fd) {
  char path[PATH_MAX];
  const ssize_t size =
      ::readlink(fmt::format("/proc/{}/fd/{}", pid, fd).c_str(), path, sizeof path);
  const std::string_view text(path, size <= 0 ? 0 : static_cast<size_t>(size));
  return std::string(text.substr(text.rfind('/') + 1));
}

struct Description {
  int64_t position = 0;
  int flags = 0;
  bool is_writable() const { return (flags & O_ACCMODE) != O_RDONLY; }
};

std::optional<Description> description_of(pid_t pid, int fd) {
  const auto text = read_file(fmt::format("/proc/{}/fdinfo/{}", pid, fd));
  if (!text) return std::nullopt;
  Description found;
  for (const std::string_view line : split(*text, '\n')) {
    const std::vector<std::string_view> words = fields(line);
    if (words.size() != 2) continue;
    if (words[0] == "pos:") found.position = parse_integer(words[1]).value_or(0);
    if (words[0] == "flags:") {
      found.flags = static_cast<int>(std::strtol(std::string(words[1]).c_str(), nullptr, 8));
    }
  }
  return found;
}

// Bytes that a process has written so far, to any file; -1 if we may not read it.
int64_t written_by(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/io", pid));
  if (!text) return -1;
  for (const std::string_view line : split(*text, '\n')) {
    const std::vector<std::string_view> words = fields(line);
    if (words.size() == 2 && words[0] == "wchar:") return parse_integer(words[1]).value_or(-1);
  }
  return -1;
}

std::vector<int> descriptors_of(pid_t pid) {
  std::vector<int> found;
  const auto names = list_folder(fmt::format("/proc/{}/fd", pid));
  if (!names) return found;
  for (const std::string& name : *names) {
    if (const auto fd = parse_integer(name)) found.push_back(static_cast<int>(*fd));
  }
  return found;
}

// A pipe, a socket, an eventfd, a device: writing there moves no position.
bool has_no_position(pid_t pid, int fd) {
  struct stat st {};
  if (::stat(fmt::format("/proc/{}/fd/{}", pid, fd).c_str(), &st) != 0) return false;
  return !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode);
}

struct Elsewhere {
  int64_t written = 0;  // sum of the positions of all other files that it writes to
  bool is_unknown =
      false;  // it has a writable file without a position, other than stdin and stderr
};

Elsewhere written_elsewhere_by(pid_t pid, const std::string& name) {
  Elsewhere all;
  for (const int fd : descriptors_of(pid)) {
    const auto found = description_of(pid, fd);
    if (!found || !found->is_writable() || file_name_of(pid, fd) == name) continue;
    all.written += found->position;
    all.is_unknown = all.is_unknown || (fd > STDERR_FILENO && has_no_position(pid, fd));
  }
  return all;
}

bool share_description(pid_t a, int fd_a, pid_t b, int fd_b) {
  const long order = ::syscall(SYS_kcmp, a, b, KCMP_FILE, fd_a, fd_b);
  if (order >= 0) return order == 0;
  // A container may forbid the question: then those with the same position are one.
  const auto first = description_of(a, fd_a), second = description_of(b, fd_b);
  return first && second && first->position == second->position && first->flags == second->flags;
}

int64_t last_pid_given() {
  const auto text = read_line("/proc/loadavg");
  if (!text) return -1;
  const std::vector<std::string_view> words = fields(*text);
  return words.empty() ? -1 : parse_integer(words.back()).value_or(-1);
}

std::string command_name(pid_t pid) {
  const auto name = read_line(fmt::format("/proc/{}/comm", pid));
  return name ? printable(*name) : "?";
}

// A supervisor or recorder, which write to their own pipes and eventfds only; also a job's first
// process until it executes its program.
bool is_trainscope(pid_t pid) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), path, sizeof path);
  const std::string_view exe(path, size <= 0 ? 0 : static_cast<size_t>(size));
  const std::string_view name = exe.substr(exe.rfind('/') + 1);
  // An executable that was replaced by a new version shows as "trainscope (deleted)".
  const std::string_view word = name.substr(0, name.find(' '));
  return word == "trainscope" || word == "trainscope-gpu";
}

}  // namespace

ForeignWriters::ForeignWriters(pid_t supervisor, std::vector<pid_t> others,
                               const std::vector<int>& followed)
    : supervisor_(supervisor), others_(std::move(others)) {
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
      if (share_description(supervisor_, ours, pid, fd)) return true;
    }
  }
  return false;
}

// Without the supervisor, the job's orphans cannot be identified.
bool ForeignWriters::is_supervised() const {
  return ::getppid() == supervisor_ || ::getpid() == supervisor_;
}

std::optional<std::string> ForeignWriters::look(bool was_opened, int64_t bytes) {
  if (files_.empty() || !is_supervised()) return std::nullopt;
  const Candidates candidates = pids_to_look_at(was_opened);
  for (const pid_t pid : candidates.pids) find_holders(pid, candidates.are_new, bytes);
  for (auto it = holders_.begin(); it != holders_.end();) {
    const auto writes = judge(*it, bytes);
    if (!writes) {
      it = holders_.erase(it);
      continue;
    }
    // Checked again at the end: if the supervisor died in between, its children belong to another
    // process.
    const bool is_foreign = *writes != Writes::no && !is_of_the_job(it->pid) && is_supervised();
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
  seen_bytes_ = bytes;
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
    Candidates all{all_pids(""), false};
    // Each takes some 10 us.
    const int64_t cost = static_cast<int64_t>(all.pids.size()) * 10'000;
    next_walk_ns_ = now + std::max(kWalkSoonest, kWalkShare * cost);
    return all;
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

void ForeignWriters::find_holders(pid_t pid, bool is_new, int64_t bytes) {
  if (is_of_the_job(pid)) return;
  for (const int fd : descriptors_of(pid)) {
    for (const File& file : files_) {
      const bool known = std::any_of(holders_.begin(), holders_.end(), [&](const Holder& holder) {
        return holder.pid == pid && holder.fd == fd && holder.file == &file;
      });
      if (!known && is_same_file(pid, fd, file)) add_holder(pid, fd, file, is_new, bytes);
    }
  }
}

void ForeignWriters::add_holder(pid_t pid, int fd, const File& file, bool is_new, int64_t bytes) {
  const auto description = description_of(pid, fd);
  ProcessStat stat;
  const bool counts = description && description->is_writable() && is_process("", pid);
  if (!counts || !read_stat("", pid, stat)) return;
  Holder holder{pid,
                stat.start_ticks,
                fd,
                &file,
                is_shared_with_the_job(pid, fd),
                description->position,
                0,
                0,
                bytes};
  // Among the many processes that share the file, those that print to it; a parent that waits for
  // the run usually writes elsewhere, to its own pipes and sockets.
  if (holder.is_shared && (fd != STDOUT_FILENO || is_parent_of_the_run(pid))) return;
  if (holder.is_shared && is_new) {
    holder.bytes = seen_bytes_;  // it was not there at the last look: all it wrote is new
  } else {
    holder.written = written_by(pid);
    if (holder.is_shared) holder.written_elsewhere = written_elsewhere_by(pid, file.name).written;
  }
  holders_.push_back(holder);
}

std::optional<ForeignWriters::Writes> ForeignWriters::judge(Holder& holder, int64_t bytes) const {
  ProcessStat stat;
  const bool alive = read_stat("", holder.pid, stat) && stat.start_ticks == holder.start_ticks;
  const auto now = alive ? description_of(holder.pid, holder.fd) : std::nullopt;
  if (!now || !is_same_file(holder.pid, holder.fd, *holder.file)) return std::nullopt;
  const int64_t written = written_by(holder.pid);
  const int64_t more = written - holder.written;
  if (!holder.is_shared) {
    // The process that moved the position, perhaps an ended child, is not of the job. Only the
    // first move, from 0, may be something other than writing: open(…, 'a') seeks to the end.
    const bool went_to_end = holder.position == 0 && more <= 0;
    const bool moved = now->position != std::exchange(holder.position, now->position);
    return moved && !went_to_end ? Writes::yes : Writes::no;
  }
  if (written < 0) return Writes::no;
  const Elsewhere elsewhere = written_elsewhere_by(holder.pid, holder.file->name);
  const bool wrote = more > std::max<int64_t>(0, elsewhere.written - holder.written_elsewhere);
  const bool grew = bytes > holder.bytes;
  holder.written = written;
  holder.written_elsewhere = elsewhere.written;
  holder.bytes = bytes;
  holder.has_channels = holder.has_channels || elsewhere.is_unknown;
  if (!wrote || !grew || is_trainscope(holder.pid)) return Writes::no;
  return holder.has_channels && !is_of_another_run(holder.pid) ? Writes::perhaps : Writes::yes;
}

// The job of another run that has our file as its output: whatever channels it has, it prints.
bool ForeignWriters::is_of_another_run(pid_t pid) const {
  ProcessStat stat;
  for (int i = 0; i < kMaxAncestors && pid > 1 && read_stat("", pid, stat); ++i) {
    pid = stat.parent;
    if (pid > 1 && is_trainscope(pid) && !is_parent_of_the_run(pid)) return true;
  }
  return false;
}

bool ForeignWriters::is_of_the_job(pid_t pid) const {
  if (pid == supervisor_ || pid == ::getpid()) return true;
  pid_t at = pid;
  for (int i = 0; i < kMaxAncestors; ++i) {
    ProcessStat stat;
    // If a process ended in between, its children moved to the supervisor: start again.
    if (!read_stat("", at, stat)) {
      if (at == pid) return true;  // it has ended
      at = pid;
      continue;
    }
    if (stat.parent == supervisor_) {
      return std::find(others_.begin(), others_.end(), at) == others_.end();
    }
    if (stat.parent <= 1) return false;
    at = stat.parent;
  }
  return true;
}

bool ForeignWriters::is_parent_of_the_run(pid_t pid) const {
  pid_t at = supervisor_;
  ProcessStat stat;
  for (int i = 0; i < kMaxAncestors && at > 1 && read_stat("", at, stat); ++i) {
    at = stat.parent;
    if (at == pid) return true;
  }
  return false;
}

}  // namespace trainscope
