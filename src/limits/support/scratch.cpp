#include "limits/support/scratch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "kernel/host_name.h"

namespace trainscope {

namespace {

// With a name for a moment, where the file system has no files without one.
Result<UniqueFd> make_named_file(const std::string& folder) {
  std::string path = folder + "/.trainscope-measure-XXXXXX";
  UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd) return Error::from_errno("cannot create a file", errno);
  ::unlink(path.c_str());
  if (::fcntl(fd.get(), F_SETFL, O_DIRECT) != 0) {
    return Error::from_errno("cannot bypass the page cache", errno);
  }
  return fd;
}

// The owner of the folder above may put a link or a pipe where a file was.
constexpr int kHarmless = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

Error advised(const std::string& folder, const Error& error) {
  const std::string reason =
      error.error_number() == EINVAL
          ? "this file system does not support reads that bypass the page cache (O_DIRECT)"
          : error.message();
  return Error(
      fmt::format("cannot measure storage in {}: {}; use --data DIR with a writable folder "
                  "on the disk that has the data, or --only cpu|gpu|memory",
                  printable(folder), reason),
      error.error_number());
}

}  // namespace

Result<UniqueFd> make_scratch_file(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
  if (fd) return fd;
  const int error = errno;
  // What these mean depends on the file system; a file with a name gives the reason.
  if (error != EOPNOTSUPP && error != EISDIR && error != EINVAL && error != ENOENT) {
    return advised(folder, Error::from_errno("cannot create a file", error));
  }
  auto named = make_named_file(folder);
  if (!named) return advised(folder, named.error());
  return named;
}

Status ScratchFolder::make(const std::string& folder) {
  const auto failed = [](int error) { return Error::from_errno("cannot create a folder", error); };
  name_ = fmt::format(".trainscope-measure-{}-{}", host_name(), ::geteuid());
  // Nobody else gives files such names, so none of theirs is removed.
  for (size_t i = 0; i < kMostFiles; ++i)
    files_.push_back(fmt::format(".trainscope-measure-{}", i));
  parent_.reset(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent_) return failed(errno);
  if (::mkdirat(parent_.get(), name_.c_str(), 0700) != 0 && errno != EEXIST) return failed(errno);
  folder_.reset(
      ::openat(parent_.get(), name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return folder_ ? Status() : failed(errno);
}

int ScratchFolder::create_file(size_t number) {
  const UniqueFd file(
      ::openat(folder_.get(), files_[number].c_str(), O_WRONLY | O_CREAT | kHarmless, 0600));
  if (!file) return errno;
  created_ = number + 1;
  return 0;
}

int ScratchFolder::open_and_close(size_t number) const {
  const UniqueFd file(::openat(folder_.get(), files_[number].c_str(), O_RDONLY | kHarmless));
  return file ? 0 : errno;
}

void ScratchFolder::remove() {
  const auto remove_files = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) ::unlinkat(folder_.get(), files_[i].c_str(), 0);
    return ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR) == 0 || errno != ENOTEMPTY;
  };
  if (folder_ && !remove_files(created_)) (void)remove_files(kMostFiles);  // those of a killed one
  folder_.reset();
}

}  // namespace trainscope
