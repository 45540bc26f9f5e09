// The commit of the working directory, read from the repository's files; git itself is not started.
#include <algorithm>

#include "base/fd.h"
#include "base/text.h"
#include "record/host/inventory.h"

namespace trainscope {

namespace {

bool is_hash(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string below(const std::string& path, const std::string& base) {
  return path.starts_with('/') ? path : base + "/" + path;
}

// The repository's folder for a folder of the working tree: .git, or the target of the file .git (a
// worktree, a submodule). Without root; empty if the tree is not in a repository.
std::string find_git_folder(const std::string& root, std::string folder) {
  while (folder.starts_with('/')) {
    std::string mark = folder + "/.git";
    if (const auto line = first_line(root + mark); line && line->starts_with("gitdir:")) {
      return below(std::string(trim(line->substr(7))), folder);
    }
    if (exists(root + mark + "/HEAD")) return mark;
    folder.resize(folder.rfind('/'));
  }
  return "";
}

std::optional<std::string> packed_hash(const std::string& path, const std::string& name) {
  const auto text = read_beginning(path, size_t{16} << 20);
  if (!text) return std::nullopt;
  for (const std::string_view line : split(*text, '\n')) {
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos || line.substr(blank + 1) != name) continue;
    if (is_hash(line.substr(0, blank))) return std::string(line.substr(0, blank));
  }
  return std::nullopt;
}

std::optional<std::string> resolve(const std::string& root, const std::string& git,
                                   const std::string& name) {
  // A worktree has its own HEAD; branches are in the folder that all worktrees share.
  const auto shared = first_line(root + git + "/commondir");
  const std::string common = shared ? below(*shared, git) : git;
  for (const std::string& folder : {git, common}) {
    auto line = first_line(root + folder + "/" + name);
    if (line && is_hash(*line)) return line;
  }
  return packed_hash(root + common + "/packed-refs", name);
}

}  // namespace

OrderedJson git_state(const std::string& root, const std::string& working_directory) {
  const std::string git = find_git_folder(root, working_directory);
  if (git.empty()) return nullptr;
  const auto head = first_line(root + git + "/HEAD");
  if (!head) return nullptr;
  // Whether the tree has changes would need every file read: unknown.
  OrderedJson state = {{"commit", nullptr}, {"branch", nullptr}, {"dirty", nullptr}};
  if (is_hash(*head)) {
    state["commit"] = *head;
    return state;
  }
  if (!head->starts_with("ref:")) return nullptr;
  const std::string name(trim(head->substr(4)));
  if (!name.starts_with("refs/") || name.find("..") != std::string::npos) return state;
  if (name.starts_with("refs/heads/")) state["branch"] = name.substr(11);
  state["commit"] = or_null(resolve(root, git, name));
  return state;
}

}  // namespace trainscope
