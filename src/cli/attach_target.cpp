#include "cli/attach_target.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr int64_t kLargestPid = 4'194'304;
constexpr int kMostAncestors = 4096;  // a process that reuses an id may close a circle

bool descends_from(pid_t pid, pid_t ancestor, const std::function<pid_t(pid_t)>& parent_of) {
  for (int i = 0; pid > 0 && i < kMostAncestors; ++i, pid = parent_of(pid)) {
    if (pid == ancestor) return true;
  }
  return false;
}

bool belongs_to_us(pid_t pid) {
  struct stat info {};
  return ::stat(fmt::format("/proc/{}", pid).c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

}  // namespace

Result<std::vector<pid_t>> parse_process_ids(const std::vector<std::string>& texts) {
  std::vector<pid_t> pids;
  for (const std::string& text : texts) {
    std::string spaced = text;
    std::replace_if(
        spaced.begin(), spaced.end(), [](char c) { return c == '\n' || c == ','; }, ' ');
    const std::vector<std::string_view> words = fields(spaced);
    for (const std::string_view word : words) {
      const auto pid = parse_integer(word);
      if (!pid || *pid < 1 || *pid > kLargestPid) {
        return Error(fmt::format("attach: '{}' is not a process id", printable(word)));
      }
      const auto value = static_cast<pid_t>(*pid);
      if (std::find(pids.begin(), pids.end(), value) == pids.end()) pids.push_back(value);
    }
    if (words.empty()) return Error("attach: '' is not a process id; is the job running?");
  }
  return pids;
}

Result<pid_t> common_root(const std::vector<pid_t>& pids,
                          const std::function<pid_t(pid_t)>& parent_of) {
  pid_t root = pids.front();
  for (const pid_t pid : pids) {
    if (descends_from(root, pid, parent_of)) root = pid;
  }
  for (const pid_t pid : pids) {
    if (descends_from(pid, root, parent_of)) continue;
    return Error(fmt::format(
        "attach: processes {0} and {1} belong to different jobs; try: trainscope attach {0}", root,
        pid));
  }
  return root;
}

pid_t parent_of_process(pid_t pid) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  if (!stat) return 0;
  const size_t name_end = stat->rfind(')');  // the name may contain anything
  if (name_end == std::string::npos) return 0;
  const std::vector<std::string_view> words = fields(std::string_view(*stat).substr(name_end + 1));
  const auto parent = words.size() > 1 ? parse_integer(words[1]) : std::nullopt;
  return parent ? static_cast<pid_t>(*parent) : 0;
}

// Recording needs permission to read the files of the process, not to signal it.
Status check_readable(pid_t pid) {
  if (!exists(fmt::format("/proc/{}", pid))) {
    return Error(fmt::format("attach: process {} does not exist", pid));
  }
  const auto status = read_file(fmt::format("/proc/{}/io", pid), 65536);
  if (status || (status.error().error_number() != EACCES && status.error().error_number() != EPERM))
    return {};
  if (::geteuid() != 0 && !belongs_to_us(pid)) {
    return Error(
        fmt::format("attach: cannot read process {0}: it belongs to another user; try: sudo "
                    "trainscope attach {0}",
                    pid));
  }
  // Same user or root: the kernel compares capabilities and user namespaces (ptrace(2)), and a
  // container has few of them.
  return Error(fmt::format(
      "attach: cannot read process {}: it has privileges that trainscope lacks, and the kernel's "
      "ptrace rule forbids it; {}",
      pid,
      ::geteuid() == 0 ? "in a container, start that one with --cap-add SYS_PTRACE"
                       : fmt::format("try: sudo trainscope attach {}", pid)));
}

}  // namespace trainscope
