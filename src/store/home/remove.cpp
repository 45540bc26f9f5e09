#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.h"
#include "format/format.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr std::array<std::string_view, 11> kOwnNames = {
    "tail",         "tail.new",     "output.log",     "output.1.log",
    "output.2.log", "output.times", "output.1.times", "output.2.times",
    "progress",     "reserve",      "manifest.json"};

// Folders of a run, and how deep what Trainscope put into them is.
constexpr int kInstrumentDepth = 4, kKeptDepth = 1;

bool is_own(std::string_view name) {
  return segment_number(name).has_value() || name.starts_with("manifest.json.new") ||
         std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end();
}

Result<UniqueFd> open_folder(const std::string& path) {
  auto fd = open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!fd && (fd.error().error_number() == ELOOP || fd.error().error_number() == ENOTDIR)) {
    return Error(path + " is not a folder itself but a link or a file; it is left alone");
  }
  return fd;
}

Result<std::vector<std::string>> names_in(int folder) {
  const int copy = ::fcntl(folder, F_DUPFD_CLOEXEC, 0);
  DIR* dir = copy < 0 ? nullptr : ::fdopendir(copy);
  if (dir == nullptr) {
    const int error = errno;
    if (copy >= 0) ::close(copy);
    return Error::from_errno("cannot list the run's folder", error);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(dir);
  // manifest.json comes last.
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a == "manifest.json", a) < std::pair(b == "manifest.json", b);
  });
  return names;
}

// A folder and everything in it; a link is removed, not followed.
Status remove_tree(int parent, const std::string& name, int depth) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  const UniqueFd folder(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!folder || depth == 0) return Error("cannot remove " + name);
  TS_TRY(const std::vector<std::string> names, names_in(folder.get()));
  for (const std::string& inner : names) {
    TS_CHECK_OK(remove_tree(folder.get(), inner, depth - 1));
  }
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return Error::from_errno("cannot remove " + name, errno);
}

int64_t disk_bytes(int folder, const std::string& name) {
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  return static_cast<int64_t>(info.st_blocks) * 512;
}

// Of the files that `run --keep` copied.
int64_t kept_bytes(int run_folder) {
  const UniqueFd folder(::openat(run_folder, std::string(kKeptFolder).c_str(),
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!folder) return 0;
  const auto names = names_in(folder.get());
  int64_t bytes = 0;
  if (!names) return bytes;
  for (const std::string& name : *names) bytes += disk_bytes(folder.get(), name);
  return bytes;
}

}  // namespace

Result<int64_t> run_disk_bytes(const std::string& run_path) {
  TS_TRY(const UniqueFd folder, open_folder(run_path));
  TS_TRY(const std::vector<std::string> names, names_in(folder.get()));
  int64_t bytes = 0;
  for (const std::string& name : names) {
    if (is_own(name)) bytes += disk_bytes(folder.get(), name);
  }
  return bytes + kept_bytes(folder.get());
}

Status remove_instrument_folder(const std::string& run_path) {
  TS_TRY(const UniqueFd folder, open_folder(run_path));
  return remove_tree(folder.get(), std::string(kInstrumentFolder), kInstrumentDepth);
}

Result<Removed> remove_run(const std::string& run_path) {
  TS_TRY(const UniqueFd folder, open_folder(run_path));
  TS_TRY(const std::vector<std::string> names, names_in(folder.get()));
  Removed removed;
  for (const std::string& name : names) {
    if (name == kInstrumentFolder) {
      TS_CHECK_OK(remove_tree(folder.get(), name, kInstrumentDepth));
      continue;
    }
    if (name == kKeptFolder) {
      const int64_t bytes = kept_bytes(folder.get());
      TS_CHECK_OK(remove_tree(folder.get(), name, kKeptDepth));
      removed.bytes += bytes;
      continue;
    }
    if (!is_own(name)) {
      removed.foreign.push_back(name);
      continue;
    }
    const int64_t bytes = disk_bytes(folder.get(), name);
    // The tail of a run that has just ended is being removed anyway.
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
      return Error::from_errno("cannot remove " + run_path + "/" + name, errno);
    }
    removed.bytes += bytes;
  }
  if (removed.foreign.empty() && ::rmdir(run_path.c_str()) != 0) {
    return Error::from_errno("cannot remove the folder " + run_path, errno);
  }
  return removed;
}

}  // namespace trainscope
