#include "cli/compared_sides.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "cli/print.h"
#include "store/store.h"

namespace trainscope {

namespace {

// Ranks of one job are not repeats of it: they wait for each other.
std::vector<std::string> paths_meant(const RunTarget& target, const std::string& text) {
  if (target.group && target.group->kind == GroupKind::ranks) {
    print_message("trainscope: '{}' has {} ranks of one job; the first is compared\n", text,
                  target.paths.size());
    return {target.paths.front()};
  }
  if (target.group || parse_runs_by_name(text).is_pattern) return target.paths;
  return {target.paths.back()};
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
  if (whole) return paths_meant(*whole, text);
  if (text.find(',') == std::string::npos) return whole.error();
  std::vector<std::string> paths;
  for (const std::string_view part : split(text, ',')) {
    const std::string one(trim(part));
    TS_TRY(const RunTarget target, find_target(home, one));
    for (const std::string& path : paths_meant(target, one)) {
      if (!is_among(path, paths)) paths.push_back(path);
    }
  }
  return paths;
}

}  // namespace trainscope
