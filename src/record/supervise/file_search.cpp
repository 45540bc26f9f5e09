#include "record/supervise/file_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/glob.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr std::string_view kAnyFolders = "**";
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

bool part_matches(const std::string& part, const std::string& name) {
  if (!is_glob(part)) return part == name;
  if (name.starts_with('.') && !part.starts_with('.')) return false;
  return glob_matches(part, name);
}

class FileWalk {
 public:
  FileWalk(FolderIdentity skipped, size_t most_names) : skipped_(skipped), left_(most_names) {}

  void enter(int folder, const std::string& prefix, std::span<const std::string> parts, int depth) {
    if (folder_identity(folder) == skipped_) return;
    if (depth > kMaxSearchDepth) {
      found_.is_complete = false;
      return;
    }
    const std::string& part = parts.front();
    if (part == kAnyFolders) return enter_any(folder, prefix, parts, depth);
    // A name without wildcards needs no list; `..` is in none.
    const std::vector<std::string> names =
        is_glob(part) ? list(folder) : std::vector<std::string>{part};
    for (const std::string& name : names) {
      if (!part_matches(part, name)) continue;
      if (parts.size() == 1) {
        add(folder, prefix, name);
      } else {
        enter_child(folder, prefix, name, parts.subspan(1), depth);
      }
    }
  }

  FileSearch take() { return std::move(found_); }

 private:
  // No folder at all, or one and then again any.
  void enter_any(int folder, const std::string& prefix, std::span<const std::string> parts,
                 int depth) {
    enter(folder, prefix, parts.subspan(1), depth);
    for (const std::string& name : list(folder)) {
      if (!name.starts_with('.')) enter_child(folder, prefix, name, parts, depth);
    }
  }

  void enter_child(int folder, const std::string& prefix, const std::string& name,
                   std::span<const std::string> parts, int depth) {
    const UniqueFd child(::openat(folder, name.c_str(), kFolderFlags));
    if (child) enter(child.get(), prefix + name + "/", parts, depth + 1);
  }

  void add(int folder, const std::string& prefix, const std::string& name) {
    struct stat info {};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISREG(info.st_mode)) found_.files.insert(prefix + name);
    if (S_ISLNK(info.st_mode)) found_.links.insert(prefix + name);
  }

  // Sorted, as far as names may be read.
  std::vector<std::string> list(int folder) {
    std::vector<std::string> names;
    UniqueFd copy(::openat(folder, ".", kFolderFlags));
    DIR* dir = copy ? ::fdopendir(copy.get()) : nullptr;
    if (dir == nullptr) return names;
    (void)copy.release();  // closedir closes it
    while (const dirent* entry = ::readdir(dir)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (left_ == 0) {
        found_.is_complete = false;
        break;
      }
      --left_;
      names.emplace_back(name);
    }
    ::closedir(dir);
    std::sort(names.begin(), names.end());
    return names;
  }

  FileSearch found_;
  FolderIdentity skipped_;
  size_t left_;
};

}  // namespace

FolderIdentity folder_identity(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return {};
  return {static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino)};
}

FilePattern parse_file_pattern(std::string_view pattern, const std::string& working_directory) {
  FilePattern parsed;
  for (const std::string_view part : split(pattern, '/')) {
    if (!part.empty() && part != ".") parsed.parts.emplace_back(part);
  }
  // "out/" and "**" mean the files in there.
  if (pattern.ends_with('/')) parsed.parts.emplace_back("*");
  if (!parsed.parts.empty() && parsed.parts.back() == kAnyFolders) parsed.parts.emplace_back("*");
  if (!pattern.starts_with('/')) {
    parsed.folder = working_directory;
    return parsed;
  }
  parsed.shown.push_back('/');
  while (parsed.parts.size() > 1 && !is_glob(parsed.parts.front())) {
    parsed.shown += parsed.parts.front() + "/";
    parsed.parts.erase(parsed.parts.begin());
  }
  parsed.folder = parsed.shown;
  return parsed;
}

Result<FileSearch> find_files(const FilePattern& pattern, const FolderIdentity& skipped,
                              size_t most_names) {
  if (pattern.parts.empty()) return FileSearch{};
  if (pattern.folder.empty()) return Error("the working directory of the job is unknown");
  TS_TRY(const UniqueFd folder, open_file(pattern.folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK));
  FileWalk walk(skipped, most_names);
  walk.enter(folder.get(), "", pattern.parts, 0);
  return walk.take();
}

Result<UniqueFd> open_found_file(int folder, const std::string& path) {
  const auto parts = split(path, '/');
  UniqueFd inner;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const int from = inner ? inner.get() : folder;
    UniqueFd next(::openat(from, std::string(parts[i]).c_str(), kFolderFlags));
    if (!next) return Error::from_errno("cannot open it", errno);
    inner = std::move(next);
  }
  const int from = inner ? inner.get() : folder;
  // Non-blocking: a FIFO that replaced the file would wait for its writer.
  UniqueFd file(::openat(from, std::string(parts.back()).c_str(),
                         O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return Error::from_errno("cannot open it", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Error("it is not a regular file");
  }
  return file;
}

}  // namespace trainscope
