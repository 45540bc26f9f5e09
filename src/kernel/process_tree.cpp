#include "kernel/process_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/clock.h"
#include "base/text.h"

namespace trainscope {

namespace {

// More new pids than this are found faster by walking /proc.
constexpr int64_t kManyPids = 2000;
// A roster that is older was left behind by samples that are far apart or late.
constexpr int64_t kRosterIsFresh = 200 * kNsPerMs;
// Searching again and again for lack of descriptors may take this share of the time.
constexpr int64_t kSearchRest = 100;

// More than any kernel shows: a hundred CPU years, and a count. The sum of two of them, the time in
// nanoseconds, fits into 64 bits.
constexpr int64_t kMostTicks = 400'000'000'000, kMostCount = 1'000'000'000'000'000'000;

bool is_believable(const ProcessStat& stat) {
  return std::max({stat.user_ticks, stat.system_ticks, stat.child_user_ticks,
                   stat.child_system_ticks}) <= kMostTicks &&
         std::max({stat.minor_faults, stat.child_minor_faults, stat.major_faults,
                   stat.child_major_faults, stat.threads, stat.resident_pages}) <= kMostCount;
}

Result<std::vector<pid_t>> list_pids(const std::string& root) {
  TS_TRY(const auto names, list_folder(root + "/proc"));
  std::vector<pid_t> pids;
  for (const std::string& name : names) {
    if (const auto pid = parse_integer(name)) pids.push_back(static_cast<pid_t>(*pid));
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

// The process that a thread belongs to.
Result<pid_t> process_of(const std::string& root, pid_t pid) {
  TS_TRY(const std::string text, read_file(fmt::format("{}/proc/{}/status", root, pid)));
  const size_t at = text.find("\nTgid:");
  int64_t group = 0;
  if (at == std::string::npos || !Scanner(std::string_view(text).substr(at + 6)).number(group)) {
    return Error("the status has no Tgid");
  }
  return static_cast<pid_t>(group);
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
  auto pids = list_pids(root);
  return pids ? std::move(*pids) : std::vector<pid_t>();
}

Status read_stat(const std::string& root, pid_t pid, ProcessStat& stat) {
  TS_TRY(const std::string text, read_file(fmt::format("{}/proc/{}/stat", root, pid)));
  if (text.empty()) return Error("the process has ended", ESRCH);
  if (!parse_stat(text, stat)) return Error("malformed stat");
  return {};
}

bool has_ended(const Error& error) {
  return error.error_number() == ENOENT || error.error_number() == ESRCH;
}

bool is_process(const std::string& root, pid_t pid) {
  const auto process = process_of(root, pid);
  return process && *process == pid;
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

void ProcessTree::open(const std::string& root, const JobProcesses* job, Search search) {
  root_ = root;
  job_ = job;
  roster_ = job == nullptr || search == Search::own ? nullptr : job->roster;
  members_.clear();
  known_.clear();
  (void)loadavg_.open(root + "/proc/loadavg", 128);
  if (auto max = read_line(root + "/proc/sys/kernel/pid_max")) {
    pid_max_ = parse_integer(*max).value_or(pid_max_);
  }
  position_ = {last_pid_given(), 0, job != nullptr && job->first_pid != 0};
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
  if (first == 0 || first == position_.first) return;
  position_.first = first;
  add(first, found);
  if (!position_.has_grown) return;
  // An attached job, and a recorder that was restarted, find the tree grown already.
  position_.has_grown = false;
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

// The pids given out after the last search, in order; they wrap around at pid_max.
Result<std::vector<pid_t>> ProcessTree::candidates(int64_t last) const {
  const int64_t seen = position_.seen_pid;
  const bool wrapped = last < seen;
  const int64_t count = wrapped ? pid_max_ - seen + last : last - seen;
  if (seen < 0 || last < 0 || count > kManyPids) return list_pids(root_);
  std::vector<pid_t> pids;
  for (int64_t i = 1; i <= count; ++i) {
    const int64_t pid = seen + i;
    pids.push_back(static_cast<pid_t>(pid >= pid_max_ ? pid - pid_max_ + 1 : pid));
  }
  return pids;
}

std::vector<pid_t> ProcessTree::find_new() {
  std::vector<pid_t> found;
  search_began_ns_ = monotonic_ns();
  if (search_began_ns_ < next_search_ns_) return found;
  lacks_descriptors_ = false;
  position_before_ = position_;
  if (take_from_roster(found)) return found;
  if (!search(found)) search_again_later();
  return found;
}

bool ProcessTree::take_from_roster(std::vector<pid_t>& found) {
  if (roster_ == nullptr) return false;
  const JobRoster::Snapshot now = roster_->get();
  if (now.at_ns < search_began_ns_ - kRosterIsFresh) return false;
  std::unordered_map<pid_t, int64_t> listed;
  for (const auto& [pid, start_ticks] : now.members) {
    const auto known = known_.find(pid);
    const bool is_known = known != known_.end();
    // Its caller still holds the process that had this pid before.
    const bool waits = is_known && known->second != start_ticks && members_.contains(pid);
    listed.emplace(pid, waits ? known->second : start_ticks);
    // One that was removed here, because it is a zombie for example, is not found again.
    if (!is_known || (known->second != start_ticks && !waits)) add(pid, found);
  }
  known_ = std::move(listed);
  position_ = {now.seen_pid, job_->first_pid.load(), false};
  return true;
}

void ProcessTree::postpone(pid_t pid) {
  remove(pid);
  known_.erase(pid);
  search_again_later();
}

void ProcessTree::search_again_later() {
  lacks_descriptors_ = true;
  position_ = position_before_;
  const int64_t now = monotonic_ns();
  next_search_ns_ = now + kSearchRest * (now - search_began_ns_);
}

bool ProcessTree::search(std::vector<pid_t>& found) {
  add_first(found);
  const int64_t last = last_pid_given();
  if (last == position_.seen_pid && last >= 0) return true;
  auto open_questions = candidates(last);
  if (!open_questions) return !is_out_of_descriptors(open_questions);
  position_.seen_pid = last;
  if (members_.empty() && reaper() == 0) return true;
  bool has_descriptors = true;
  const auto can_read = [&](const auto& result) {
    has_descriptors = !is_out_of_descriptors(result);
    return static_cast<bool>(result);
  };
  // A child may have a smaller pid than its parent after a wrap: look again while some are found.
  for (bool again = true; again;) {
    again = false;
    std::erase_if(*open_questions, [&](pid_t pid) {
      ProcessStat stat;
      if (!has_descriptors || members_.contains(pid)) return true;
      if (!can_read(read_stat(root_, pid, stat))) return true;
      if (!is_ours(pid, stat)) return false;
      const auto process = process_of(root_, pid);
      if (can_read(process) && *process == pid) {
        add(pid, found);
        again = true;
      }
      return true;
    });
  }
  return has_descriptors;
}

void JobMembers::open(const std::string& root, const JobProcesses* job) {
  root_ = root;
  tree_.open(root, job);
}

void JobMembers::refresh() {
  const auto is_alive = [](const ProcessStat& stat) {
    return stat.state != 'Z' && stat.state != 'X';
  };
  // First those that are known: one that joins may have the pid of one that has ended.
  for (auto it = members_.begin(); it != members_.end();) {
    auto& [pid, known] = *it;
    ProcessStat now;
    const Status read = read_stat(root_, pid, now);
    const bool is_the_same = read && is_alive(now) && now.start_ticks == known.start_ticks;
    if (is_the_same) known = now;
    if (is_the_same ||
        (!read && !has_ended(read.error()))) {  // if unreadable, the last values stay
      ++it;
    } else {
      tree_.remove(pid);
      it = members_.erase(it);
    }
  }
  for (const pid_t pid : tree_.find_new()) {
    ProcessStat stat;
    const Status read = read_stat(root_, pid, stat);
    if (read && is_alive(stat)) {
      members_[pid] = stat;
    } else if (is_out_of_descriptors(read)) {
      tree_.postpone(pid);
    } else {
      tree_.remove(pid);
    }
  }
}

}  // namespace trainscope
