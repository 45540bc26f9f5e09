#include "collect/support/threads/role_candidates.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "kernel/schedstat.h"
#include "kernel/worker_process.h"

namespace trainscope {

namespace {

// The second look is at the next refresh.
constexpr int64_t kFirstLookPause = kNsPerSecond / 2, kLongestLookPause = 64 * kNsPerSecond;
// A worker is undecided until its first batch. After so many looks most have handed one over.
constexpr int kLooksBeforeMain = 2;
// A spawned worker first imports what the job does: it is looked at for a minute or so.
constexpr int kFrequentLooks = 16;
constexpr int64_t kFrequentLookPause = 4 * kNsPerSecond;
// Of all processes together.
constexpr int64_t kLooksPerSecond = 10;

}  // namespace

bool RoleCandidate::may_be_main() const {
  const bool is_open = undecided_looks > 0 && undecided_looks <= kLooksBeforeMain;
  return !is_worker && !looks_like_worker && !is_compiler && !is_open;
}

void RoleCandidates::open(const std::string& root, const JobProcesses* job) {
  root_ = root;
  tree_.open(root, job);
  ns_per_tick_ = kNsPerSecond / ::sysconf(_SC_CLK_TCK);
  finds_old_ = job == nullptr || job->first_pid != 0;
}

RoleCandidate* RoleCandidates::find(pid_t pid) {
  const auto it = std::find_if(candidates_.begin(), candidates_.end(),
                               [pid](const RoleCandidate& c) { return c.pid == pid; });
  return it == candidates_.end() ? nullptr : &*it;
}

void RoleCandidates::drop(pid_t pid) {
  tree_.remove(pid);
  std::erase_if(candidates_, [pid](const RoleCandidate& c) { return c.pid == pid; });
}

void RoleCandidates::refresh(int64_t now_ns) {
  for (RoleCandidate& candidate : candidates_) {
    candidate.cpu_ns = cpu_ns(candidate);
    if (candidate.cpu_ns < 0) tree_.remove(candidate.pid);
  }
  std::erase_if(candidates_, [](const RoleCandidate& c) { return c.cpu_ns < 0; });
  if (refreshed_ns_ == 0) refreshed_ns_ = now_ns;
  take_new(now_ns);
  for (RoleCandidate& candidate : candidates_) {
    if (now_ns >= candidate.next_look_ns) look_at(candidate, now_ns);
  }
  refreshed_ns_ = now_ns;
}

void RoleCandidates::take_new(int64_t now_ns) {
  for (const pid_t pid : tree_.find_new()) {
    ProcessStat stat;
    const Status known = read_stat(root_, pid, stat);
    if (is_out_of_descriptors(known)) {
      tree_.postpone(pid);
    } else if (!known || stat.state == 'Z' || stat.state == 'X') {
      tree_.remove(pid);
    } else {
      RoleCandidate& candidate = candidates_.emplace_back();
      candidate.pid = pid;
      candidate.parent = stat.parent;
      candidate.start_ticks = stat.start_ticks;
      candidate.born_ns = birth(stat.start_ticks, now_ns);
      candidate.is_old = finds_old_;
      candidate.cpu_ns = std::max<int64_t>(0, cpu_ns(candidate));
      candidate.next_look_ns = now_ns;
      candidate.look_pause_ns = kFirstLookPause;
    }
  }
  if (!candidates_.empty()) finds_old_ = false;
}

int64_t RoleCandidates::birth(int64_t start_ticks, int64_t now_ns) const {
  if (!root_.empty()) return refreshed_ns_;
  // Both clocks now, and not at `now_ns`, which may be earlier.
  const int64_t born_ns = monotonic_ns() - (boottime_ns() - start_ticks * ns_per_tick_);
  return std::clamp(born_ns, refreshed_ns_, std::max(refreshed_ns_, now_ns));
}

int64_t RoleCandidates::cpu_ns(const RoleCandidate& candidate) const {
  const int64_t cpu_ns = root_.empty() ? process_cpu_ns(candidate.pid) : -1;
  if (cpu_ns >= candidate.cpu_ns) return cpu_ns;
  ProcessStat stat;
  if (const Status known = read_stat(root_, candidate.pid, stat); !known) {
    return has_ended(known.error()) ? -1 : candidate.cpu_ns;
  }
  if (stat.start_ticks != candidate.start_ticks) return -1;
  return std::max(candidate.cpu_ns, (stat.user_ticks + stat.system_ticks) * ns_per_tick_);
}

void RoleCandidates::note_undecided(RoleCandidate& candidate, bool is_undecided) const {
  candidate.undecided_looks =
      is_undecided ? std::min(candidate.undecided_looks, kFrequentLooks) + 1 : 0;
  if (!is_undecided || candidate.undecided_looks > kFrequentLooks) return;
  const auto crowd = static_cast<int64_t>(candidates_.size());
  candidate.look_pause_ns =
      std::min(candidate.look_pause_ns,
               std::max(kFrequentLookPause, crowd * (kNsPerSecond / kLooksPerSecond)));
}

void RoleCandidates::look_at(RoleCandidate& candidate, int64_t now_ns) {
  candidate.next_look_ns = now_ns + candidate.look_pause_ns;
  candidate.look_pause_ns = std::min(2 * candidate.look_pause_ns, kLongestLookPause);
  const auto text = read_file(fmt::format("{}/proc/{}/stat", root_, candidate.pid));
  if (!text) return;
  const std::string_view name = thread_name(*text);
  const pid_t parent = find(candidate.parent) == nullptr ? 0 : candidate.parent;
  const ProcessKind kind = kind_of_process(root_, candidate.pid, name, parent);
  const bool is_named = kind.worker == WorkerSign::name;
  const bool looks = is_named || kind.worker == WorkerSign::hands_over_memory;
  candidate.is_worker = is_named || (looks && candidate.looks_like_worker);
  candidate.looks_like_worker = looks;
  candidate.is_compiler = kind.is_compiler;
  note_undecided(candidate, kind.worker == WorkerSign::undecided);
  // What looks like a worker for the first time is looked at again soon.
  if (looks && !candidate.is_worker) candidate.next_look_ns = now_ns + kFirstLookPause;
}

}  // namespace trainscope
