#include "record/supervise/keep_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/text.h"
#include "record/supervise/file_search.h"

namespace trainscope {

namespace {

constexpr size_t kListedLeftOut = 100;

std::string too_many(const KeepLimits& limits) {
  return fmt::format("a run keeps at most {} files", limits.files);
}

std::string too_large(const KeepLimits& limits) {
  return fmt::format("a run keeps at most {} of files",
                     bytes_text(static_cast<double>(limits.bytes)));
}

// `bytes` of one file into another, or as many as there are.
Result<int64_t> copy_bytes(int from, int to, int64_t bytes) {
  std::vector<char> buffer(size_t{1} << 18);
  int64_t copied = 0;
  while (copied < bytes) {
    const auto most = std::min(buffer.size(), static_cast<size_t>(bytes - copied));
    const ssize_t n = retry_interrupted([&] { return ::read(from, buffer.data(), most); });
    if (n < 0) return Error::from_errno("cannot read it", errno);
    if (n == 0) break;
    TS_CHECK_OK(write_all(to, std::string_view(buffer.data(), static_cast<size_t>(n))));
    copied += n;
  }
  return copied;
}

class Keeper {
 public:
  Keeper(const FilesToKeep& wanted, const KeepLimits& limits, UniqueFd folder,
         FolderIdentity run_folder)
      : wanted_(wanted), limits_(limits), folder_(std::move(folder)), run_folder_(run_folder) {}

  void keep(const std::string& text) {
    const FilePattern pattern = parse_file_pattern(text, wanted_.working_directory);
    const auto found = find_files(pattern, run_folder_);
    const std::string quoted = fmt::format("'{}'", printable(text));
    if (!found) {
      result_.problems.push_back(quoted + ": " + found.error().message());
      return;
    }
    if (!found->is_complete) {
      result_.problems.push_back(quoted + " has too many names to search all of them");
    }
    if (found->files.empty() && found->links.empty()) {
      result_.problems.push_back(quoted + " matches no file");
      return;
    }
    const auto base = open_file(pattern.folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    for (const std::string& path : found->files) {
      if (!seen_.insert(pattern.shown + path).second) continue;
      const Status copied = base ? copy(base->get(), path, pattern.shown + path) : base.error();
      if (!copied) leave_out(pattern.shown + path, copied.error().message());
    }
    for (const std::string& path : found->links) {
      if (!seen_.insert(pattern.shown + path).second) continue;
      leave_out(pattern.shown + path, "it is a symbolic link");
    }
  }

  KeepResult take() { return std::move(result_); }

 private:
  void leave_out(const std::string& path, const std::string& reason) {
    KeptFiles& kept = result_.kept;
    ++kept.left_out_count;
    if (kept.left_out.size() < kListedLeftOut) kept.left_out.push_back({path, reason});
  }

  bool has_space(int64_t bytes) const {
    struct statvfs disk {};
    if (::fstatvfs(folder_.get(), &disk) != 0) return true;
    const auto available =
        static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
    return available - bytes >= limits_.free_bytes;
  }

  Status copy(int base, const std::string& path, const std::string& shown) {
    KeptFiles& kept = result_.kept;
    if (kept.files.size() >= limits_.files) return Error(too_many(limits_));
    TS_TRY(const UniqueFd from, open_found_file(base, path));
    struct stat info {};
    if (::fstat(from.get(), &info) != 0) return Error::from_errno("cannot read it", errno);
    if (info.st_size > limits_.bytes - bytes_) return Error(too_large(limits_));
    if (!has_space(info.st_size)) return Error("the disk of the run is almost full");
    const std::string name = kept_file_name(kept.files.size());
    UniqueFd to(::openat(folder_.get(), name.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!to) return Error::from_errno("cannot create its copy", errno);
    const auto copied = copy_bytes(from.get(), to.get(), info.st_size);
    if (!copied) {
      ::unlinkat(folder_.get(), name.c_str(), 0);
      return copied.error();
    }
    bytes_ += *copied;
    kept.files.push_back(
        {shown, *copied, info.st_mtim.tv_sec * kNsPerSecond + info.st_mtim.tv_nsec});
    return {};
  }

  const FilesToKeep& wanted_;
  const KeepLimits limits_;
  UniqueFd folder_;
  FolderIdentity run_folder_;
  int64_t bytes_ = 0;
  std::set<std::string> seen_;
  KeepResult result_;
};

}  // namespace

Result<KeepResult> keep_files(const FilesToKeep& wanted, const KeepLimits& limits) {
  TS_TRY(const UniqueFd run, open_file(wanted.run_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const std::string name(kKeptFolder);
  if (::mkdirat(run.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error::from_errno("cannot create " + wanted.run_path + "/" + name, errno);
  }
  UniqueFd folder(
      ::openat(run.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return Error::from_errno("cannot open " + wanted.run_path + "/" + name, errno);
  Keeper keeper(wanted, limits, std::move(folder), folder_identity(run.get()));
  for (const std::string& pattern : wanted.patterns) keeper.keep(pattern);
  KeepResult result = keeper.take();
  TS_CHECK_OK(replace_file(fmt::format("{}/{}/{}", wanted.run_path, name, kKeptIndex),
                           kept_files_to_json(result.kept)));
  return result;
}

std::string keep_warning(const KeepResult& result) {
  std::string text;
  for (const std::string& problem : result.problems) {
    text += (text.empty() ? "--keep " : "; --keep ") + problem;
  }
  const KeptFiles& kept = result.kept;
  if (kept.left_out_count == 0) return text;
  const LeftOutFile& first = kept.left_out.front();
  text += text.empty() ? "" : "; ";
  return text + fmt::format("{} of --keep {} not kept: {}: {}{}",
                            counted(kept.left_out_count, "file"),
                            kept.left_out_count == 1 ? "was" : "were", printable(first.path),
                            first.reason, kept.left_out_count > 1 ? " (and others)" : "");
}

}  // namespace trainscope
