#include "store/home/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "store/home/run_argument.h"
#include "store/read/run_id.h"
#include "store/store.h"

namespace trainscope {

namespace {

struct GroupedRun {
  int64_t place = 0;  // rank or repeat
  const RunListing* run = nullptr;
};

struct OpenGroup {
  RunGroup group;  // without its paths
  std::vector<GroupedRun> members;
};

// A launcher's job: its ranks may have been recorded several times under the same id.
struct JobStarts {
  int64_t last_start_ns = 0;
  std::map<int64_t, size_t> runs_of_rank;  // since counting began
  std::vector<size_t> groups;              // since then, the n-th of each rank in the n-th
};

class Grouping {
 public:
  void add(const RunListing& run) {
    if (!run.manifest.job.empty()) add_rank(run);
    if (!run.manifest.repeat.group.empty()) add_repeat(run);
  }

  std::vector<RunGroup> take() {
    std::map<std::string, size_t> newer;  // how many groups of the same id came later
    for (auto open = groups_.rbegin(); open != groups_.rend(); ++open) {
      const size_t count = newer[open->group.id]++;
      if (count > 0) open->group.id += fmt::format("~{}", count);
    }
    std::vector<RunGroup> groups;
    for (OpenGroup& open : groups_) {
      std::stable_sort(open.members.begin(), open.members.end(),
                       [](const GroupedRun& a, const GroupedRun& b) { return a.place < b.place; });
      for (const GroupedRun& member : open.members) open.group.paths.push_back(member.run->path);
      groups.push_back(std::move(open.group));
    }
    return groups;
  }

 private:
  size_t new_group(const std::string& id, GroupKind kind, int64_t size) {
    groups_.push_back({{id, kind, size, {}}, {}});
    return groups_.size() - 1;
  }

  void add_rank(const RunListing& run) {
    const Manifest& m = run.manifest;
    JobStarts& starts = jobs_[{m.job, m.restart, m.world_size}];
    const int64_t start_ns = run_id_realtime_ns(m.id).value_or(starts.last_start_ns);
    if (start_ns - starts.last_start_ns > kIdReuseNs) starts = {};
    starts.last_start_ns = start_ns;
    const size_t before = starts.runs_of_rank[m.rank]++;
    if (before == starts.groups.size()) {
      starts.groups.push_back(new_group(m.job, GroupKind::ranks, m.world_size));
    }
    groups_[starts.groups[before]].members.push_back({m.rank, &run});
  }

  void add_repeat(const RunListing& run) {
    const Repeat& repeat = run.manifest.repeat;
    const auto [found, is_new] = repeats_.try_emplace(repeat.group, 0);
    if (is_new) found->second = new_group(repeat.group, GroupKind::repeats, repeat.count);
    groups_[found->second].members.push_back({repeat.index, &run});
  }

  std::vector<OpenGroup> groups_;
  std::map<std::tuple<std::string, int64_t, int64_t>, JobStarts> jobs_;
  std::map<std::string, size_t> repeats_;
};

// "slurm-4711.0" of "slurm-4711.0~1".
std::string_view job_part(std::string_view id) { return id.substr(0, id.rfind('~')); }

}  // namespace

std::vector<RunGroup> group_runs(const std::vector<RunListing>& runs) {
  Grouping grouping;
  for (const RunListing& run : runs) grouping.add(run);
  return grouping.take();
}

Result<std::optional<RunGroup>> find_group(const std::vector<RunGroup>& groups,
                                           std::string_view text) {
  const RunsByName wanted = parse_runs_by_name(text);
  std::set<std::string_view> jobs;
  for (const RunGroup& group : groups) {
    const std::string_view job = job_part(group.id);
    if (job == wanted.name) {
      jobs = {job};
      break;
    }
    if (job.starts_with(wanted.name)) jobs.insert(job);
  }
  if (jobs.size() > 1) {
    return Error(fmt::format("'{}' matches {} groups, including {} and {}; use a longer prefix",
                             text, jobs.size(), *jobs.begin(), *jobs.rbegin()));
  }
  for (const RunGroup& group : groups) {
    const RunsByName id = parse_runs_by_name(group.id);
    if (jobs.contains(id.name) && id.back == wanted.back) return std::optional(group);
  }
  return std::optional<RunGroup>();
}

// Containers have their own host names and share the kernel.
bool is_same_machine(const Manifest& a, const Manifest& b) {
  return a.boot_id.empty() ? a.host_name == b.host_name : a.boot_id == b.boot_id;
}

}  // namespace trainscope
