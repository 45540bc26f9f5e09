#include "cli/group_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "cli/run_filter.h"

namespace trainscope {

namespace {

// The group of each run by its path; that of the ranks takes precedence.
std::unordered_map<std::string, const RunGroup*> groups_by_path(
    const std::vector<RunGroup>& groups) {
  std::unordered_map<std::string, const RunGroup*> found;
  for (const RunGroup& group : groups) {
    for (const std::string& path : group.paths) {
      const RunGroup*& place = found[path];
      if (place == nullptr || group.kind == GroupKind::ranks) place = &group;
    }
  }
  return found;
}

std::string place_in_group(const Manifest& m, const RunGroup* group) {
  if (m.world_size > 1) return fmt::format("rank {} of {}", m.rank, m.world_size);
  if (group == nullptr || m.repeat.group.empty()) return "";
  return fmt::format("repeat {} of {}", m.repeat.index, m.repeat.count);
}

int outcome_severity(const RunListing& run) {
  if (run.status == RunStatus::damaged) return 3;
  if (has_failed(run)) return 2;
  return run.status == RunStatus::running ? 1 : 0;
}

}  // namespace

std::string group_size_text(const RunGroup& group, int64_t count) {
  const std::string_view thing = group.kind == GroupKind::ranks ? "rank" : "repeat";
  if (count == group.size) return counted(count, thing);
  return fmt::format("{} of {}", count, counted(group.size, thing));
}

std::vector<ListRow> list_rows(const std::vector<RunListing>& shown,
                               const std::vector<RunGroup>& groups, bool is_open) {
  const auto by_path = groups_by_path(groups);
  const auto group_of = [&](const RunListing& run) {
    const auto found = by_path.find(run.path);
    return found == by_path.end() ? nullptr : found->second;
  };
  std::unordered_map<const RunGroup*, std::vector<const RunListing*>> members;
  for (const RunListing& run : shown) members[group_of(run)].push_back(&run);
  std::vector<ListRow> rows;
  for (const RunListing& run : shown) {
    const RunGroup* group = group_of(run);
    const auto& all = members[group];
    if (is_open || group == nullptr || all.size() == 1) {
      rows.push_back({{&run}, "", place_in_group(run.manifest, group)});
    } else if (all.back() == &run) {
      rows.push_back({all, group->id, group_size_text(*group, static_cast<int64_t>(all.size()))});
    }
  }
  return rows;
}

std::string common_name(const std::vector<const RunListing*>& runs) {
  const std::string& name = runs.front()->manifest.name;
  const bool is_common = std::all_of(
      runs.begin(), runs.end(), [&](const RunListing* run) { return run->manifest.name == name; });
  return is_common ? name : "";
}

std::map<std::string, std::string> common_tags(const std::vector<const RunListing*>& runs) {
  std::map<std::string, std::string> common = runs.front()->manifest.tags;
  for (const RunListing* run : runs) {
    const auto& tags = run->manifest.tags;
    std::erase_if(common, [&](const auto& tag) {
      const auto found = tags.find(tag.first);
      return found == tags.end() || found->second != tag.second;
    });
  }
  return common;
}

const RunListing& worst_run(const std::vector<const RunListing*>& runs) {
  return **std::max_element(runs.begin(), runs.end(), [](const auto* a, const auto* b) {
    return outcome_severity(*a) < outcome_severity(*b);
  });
}

}  // namespace trainscope
