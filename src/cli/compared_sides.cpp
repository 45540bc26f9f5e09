#include "cli/compared_sides.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "cli/print.h"
#include "store/store.h"

namespace trainscope {

namespace {

std::vector<std::string> paths_meant(const RunTarget& target, const std::string& text) {
  if (target.group || parse_runs_by_name(text).is_pattern) return target.paths;
  return {target.paths.back()};
}

// Ranks of one job are not repeats of it: they wait for each other. So only the first of them
// stays, whether a group, a pattern or a list named them.
std::vector<std::string> without_later_ranks(std::vector<std::string> paths,
                                             const std::string& text) {
  if (paths.size() < 2) return paths;
  std::vector<RunListing> listings;
  for (const std::string& path : paths) listings.push_back(list_run(path));
  std::ranges::stable_sort(listings, {}, [](const RunListing& run) { return run.manifest.id; });
  for (const RunGroup& group : group_runs(listings)) {
    if (group.kind != GroupKind::ranks || group.paths.size() < 2) continue;
    print_message("trainscope: '{}' has {} ranks of the job {}; the first is compared\n", text,
                  group.paths.size(), group.id);
    std::erase_if(paths, [&](const std::string& path) {
      const bool is_first = path == group.paths.front();
      return !is_first && std::ranges::find(group.paths, path) != group.paths.end();
    });
  }
  return paths;
}

// Whether a folder is one of these, however its path is written.
bool is_among(const std::string& path, const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& other) {
    std::error_code error;
    return path == other || std::filesystem::equivalent(path, other, error);
  });
}

}  // namespace

Result<std::vector<std::string>> side_paths(const std::string& home, const std::string& text) {
  auto whole = find_target(home, text);
  if (whole) return without_later_ranks(paths_meant(*whole, text), text);
  if (text.find(',') == std::string::npos) return whole.error();
  std::vector<std::string> paths;
  for (const std::string_view part : split(text, ',')) {
    const std::string one(trim(part));
    TS_TRY(const RunTarget target, find_target(home, one));
    for (const std::string& path : paths_meant(target, one)) {
      if (!is_among(path, paths)) paths.push_back(path);
    }
  }
  return without_later_ranks(std::move(paths), text);
}

}  // namespace trainscope
