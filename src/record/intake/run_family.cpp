#include "record/intake/run_family.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string_view>

#include "kernel/process_tree.h"

namespace trainscope {

namespace {

constexpr int kMaxAncestors = 1000;

}  // namespace

bool RunFamily::is_supervised() const {
  return ::getppid() == supervisor_ || ::getpid() == supervisor_;
}

bool RunFamily::is_trainscope(pid_t pid) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), path, sizeof path);
  const std::string_view exe(path, size <= 0 ? 0 : static_cast<size_t>(size));
  const std::string_view name = exe.substr(exe.rfind('/') + 1);
  // An executable that was replaced by a new version shows as "trainscope (deleted)".
  const std::string_view word = name.substr(0, name.find(' '));
  return word == "trainscope" || word == "trainscope-gpu";
}

bool RunFamily::is_of_another_run(pid_t pid) const {
  ProcessStat stat;
  for (int i = 0; i < kMaxAncestors && pid > 1 && read_stat("", pid, stat); ++i) {
    pid = stat.parent;
    if (pid > 1 && is_trainscope(pid) && !is_parent_of_the_run(pid)) return true;
  }
  return false;
}

bool RunFamily::is_of_the_job(pid_t pid) const {
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

bool RunFamily::is_parent_of_the_run(pid_t pid) const {
  pid_t at = supervisor_;
  ProcessStat stat;
  for (int i = 0; i < kMaxAncestors && at > 1 && read_stat("", at, stat); ++i) {
    at = stat.parent;
    if (at == pid) return true;
  }
  return false;
}

}  // namespace trainscope
