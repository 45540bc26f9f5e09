#include "kernel/process_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace trainscope {

namespace {

// More new pids than this are found faster by walking /proc.
constexpr int64_t kManyPids = 2000;

// More than any kernel shows: a hundred CPU years, and a count. The sum of two of them, the time in
// nanoseconds, fits into 64 bits.
constexpr int64_t kMostTicks = 400'000'000'000, kMostCount = 1'000'000'000'000'000'000;

bool is_believable(const ProcessStat& stat) {
  return std::max({stat.user_ticks, stat.system_ticks, stat.child_user_ticks,
                   stat.child_system_ticks}) <= kMostTicks &&
         std::max({stat.minor_faults, stat.child_minor_faults, stat.major_faults,
                   stat.child_major_faults, stat.threads, stat.resident_pages}) <= kMostCount;
}

}  // namespace

bool parse_stat(std::string_view text, ProcessStat& stat) {
  // The name in parentheses may contain anything, parentheses included: the last one ends it.
  const size_t close = text.rfind(')');
  if (close == std::string_view::npos || close + 4 > text.size()) return false;
  stat.state = text[close + 2];
  Scanner scan(text.substr(close + 3));
  int64_t parent = 0, ignored = 0;
  bool good = scan.number(parent);
  stat.parent = static_cast<pid_t>(parent);
  for (int i = 0; i < 5; ++i) scan.skip_word();  // pgrp session tty tpgid flags
  good = good && scan.number(stat.minor_faults) && scan.number(stat.child_minor_faults) &&
         scan.number(stat.major_faults) && scan.number(stat.child_major_faults) &&
         scan.number(stat.user_ticks) && scan.number(stat.system_ticks) &&
         scan.number(stat.child_user_ticks) && scan.number(stat.child_system_ticks);
  scan.skip_word();  // priority, may be negative
  scan.skip_word();  // nice
  good = good && scan.number(stat.threads) && scan.number(ignored) && scan.number(stat.start_ticks);
  scan.skip_word();  // virtual size
  return good && scan.number(stat.resident_pages) && is_believable(stat);
}

std::vector<pid_t> all_pids(const std::string& root) {
  std::vector<pid_t> pids;
  for (const std::string& name : names_in(root + "/proc")) {
    if (const auto pid = parse_integer(name)) pids.push_back(static_cast<pid_t>(*pid));
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

bool read_stat(const std::string& root, pid_t pid, ProcessStat& stat) {
  const auto text = read_file(fmt::format("{}/proc/{}/stat", root, pid));
  return text && parse_stat(*text, stat);
}

bool is_process(const std::string& root, pid_t pid) {
  const auto text = read_file(fmt::format("{}/proc/{}/status", root, pid));
  if (!text) return false;
  const size_t at = text->find("\nTgid:");
  if (at == std::string::npos) return false;
  int64_t group = 0;
  Scanner scan(std::string_view(*text).substr(at + 6));
  return scan.number(group) && group == pid;
}

std::vector<pid_t> descendants(const std::string& root, pid_t ancestor,
                               std::span<const pid_t> except) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : all_pids(root)) {
    ProcessStat stat;
    if (read_stat(root, pid, stat)) children.emplace(stat.parent, pid);
  }
  std::vector<pid_t> found = {ancestor};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto it = begin; it != end; ++it) {
      if (std::find(except.begin(), except.end(), it->second) == except.end()) {
        found.push_back(it->second);
      }
    }
  }
  found.erase(found.begin());
  return found;
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> pids;
  const pid_t self = ::getpid();
  if (const auto text = read_file(fmt::format("/proc/self/task/{}/children", self))) {
    for (const std::string_view word : fields(*text)) {
      if (const auto pid = parse_integer(word)) pids.push_back(static_cast<pid_t>(*pid));
    }
    return pids;
  }
  // A kernel without CONFIG_PROC_CHILDREN.
  for (const pid_t pid : descendants("", self)) {
    ProcessStat stat;
    if (read_stat("", pid, stat) && stat.parent == self) pids.push_back(pid);
  }
  return pids;
}

void ProcessTree::open(const std::string& root, const JobProcesses* job) {
  root_ = root;
  job_ = job;
  members_.clear();
  first_ = 0;
  (void)loadavg_.open(root + "/proc/loadavg", 128);
  if (auto max = read_line(root + "/proc/sys/kernel/pid_max")) {
    pid_max_ = parse_integer(*max).value_or(pid_max_);
  }
  seen_pid_ = last_pid_given();
  has_grown_ = job != nullptr && job->first_pid != 0;
}

// The fifth field: the pid that was given out last in our namespace; -1 when unknown.
int64_t ProcessTree::last_pid_given() {
  const std::string_view text = trim(loadavg_.read());
  const size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return -1;
  return parse_integer(text.substr(blank + 1)).value_or(-1);
}

void ProcessTree::add(pid_t pid, std::vector<pid_t>& found) {
  if (members_.insert(pid).second) found.push_back(pid);
}

// The job's first process has started, or that of the next phase has.
void ProcessTree::add_first(std::vector<pid_t>& found) {
  const pid_t first = job_ == nullptr ? ::getpid() : job_->first_pid.load();
  if (first == 0 || first == first_) return;
  first_ = first;
  add(first, found);
  if (!has_grown_) return;
  // An attached job, and a recorder that was restarted, find the tree grown already.
  has_grown_ = false;
  for (const pid_t pid : descendants(root_, first)) add(pid, found);
  const pid_t reaper_pid = reaper();
  if (reaper_pid == 0) return;
  for (const pid_t pid : descendants(root_, reaper_pid, job_->others)) {
    ProcessStat stat;
    if (read_stat(root_, pid, stat) && is_ours(pid, stat)) add(pid, found);
  }
}

bool ProcessTree::is_ours(pid_t pid, const ProcessStat& stat) const {
  if (members_.contains(stat.parent)) return true;
  if (job_ == nullptr || stat.parent == 0 || stat.parent != job_->reaper_pid) return false;
  if (pid == job_->recorder_pid) return false;
  if (job_->gpu_pid != nullptr && pid == *job_->gpu_pid) return false;
  return std::find(job_->others.begin(), job_->others.end(), pid) == job_->others.end();
}

// The pids given out after the last look, in order; they wrap around at pid_max.
std::vector<pid_t> ProcessTree::candidates(int64_t last) const {
  const bool wrapped = last < seen_pid_;
  const int64_t count = wrapped ? pid_max_ - seen_pid_ + last : last - seen_pid_;
  if (seen_pid_ < 0 || last < 0 || count > kManyPids) return all_pids(root_);
  std::vector<pid_t> pids;
  for (int64_t i = 1; i <= count; ++i) {
    const int64_t pid = seen_pid_ + i;
    pids.push_back(static_cast<pid_t>(pid >= pid_max_ ? pid - pid_max_ + 1 : pid));
  }
  return pids;
}

std::vector<pid_t> ProcessTree::find_new() {
  std::vector<pid_t> found;
  add_first(found);
  const int64_t last = last_pid_given();
  if (last == seen_pid_ && last >= 0) return found;
  std::vector<pid_t> open_questions = candidates(last);
  seen_pid_ = last;
  if (members_.empty() && reaper() == 0) return found;
  // A child may have a smaller pid than its parent after a wrap: look again while some are found.
  for (bool again = true; again;) {
    again = false;
    std::erase_if(open_questions, [&](pid_t pid) {
      ProcessStat stat;
      if (members_.contains(pid) || !read_stat(root_, pid, stat)) return true;
      if (!is_ours(pid, stat)) return false;
      if (is_process(root_, pid)) {
        add(pid, found);
        again = true;
      }
      return true;
    });
  }
  return found;
}

void JobMembers::open(const std::string& root, const JobProcesses* job) {
  root_ = root;
  tree_.open(root, job);
}

bool JobMembers::is_alive(pid_t pid, ProcessStat& stat) const {
  return read_stat(root_, pid, stat) && stat.state != 'Z' && stat.state != 'X';
}

void JobMembers::refresh() {
  // First those that are known: one that joins may have the pid of one that has ended.
  for (auto it = members_.begin(); it != members_.end();) {
    ProcessStat now;
    if (is_alive(it->first, now) && now.start_ticks == it->second.start_ticks) {
      it->second = now;
      ++it;
    } else {
      tree_.remove(it->first);
      it = members_.erase(it);
    }
  }
  for (const pid_t pid : tree_.find_new()) {
    ProcessStat stat;
    if (is_alive(pid, stat)) {
      members_[pid] = stat;
    } else {
      tree_.remove(pid);
    }
  }
}

}  // namespace trainscope
