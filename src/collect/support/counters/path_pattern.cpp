#include "collect/support/counters/path_pattern.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"

namespace trainscope {

bool is_path_pattern(std::string_view path) {
  return path.find_first_of("*?[") != std::string_view::npos;
}

std::vector<std::string> expand_path(const std::string& root, const std::string& pattern,
                                     size_t most,
                                     const std::function<bool(const std::string&)>& may_enter) {
  std::vector<std::string> found = {""};
  for (const std::string_view part_view : split(pattern, '/')) {
    if (part_view.empty()) continue;
    const std::string part(part_view);
    std::vector<std::string> next;
    for (const std::string& folder : found) {
      if (!may_enter(folder.empty() ? "/" : folder)) continue;
      if (!is_path_pattern(part)) {
        next.push_back(folder + "/" + part);
        continue;
      }
      const auto names = list_folder(root + folder + "/");
      if (!names) continue;
      for (const std::string& name : *names) {
        if (next.size() >= most) break;
        if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) {
          next.push_back(folder + "/" + name);
        }
      }
    }
    found = std::move(next);
  }
  std::erase_if(found,
                [&](const std::string& path) { return !may_enter(path) || !exists(root + path); });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace trainscope
