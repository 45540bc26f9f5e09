#include "limits/support/scratch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

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

HeldSignals::HeldSignals() {
  sigemptyset(&held_);
  for (const int number : kEnding) {
    struct sigaction action {};
    // One that the caller ignores would only wake us.
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&held_, number);
    }
  }
  ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

HeldSignals::~HeldSignals() {
  if (caught_ != 0) ::raise(caught_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool HeldSignals::wait(int64_t time_ns) {
  const int64_t until = monotonic_ns() + time_ns;
  while (caught_ == 0) {
    const int64_t left_ns = until - monotonic_ns();
    if (left_ns <= 0) return true;
    const timespec left = to_timespec(left_ns);
    const int number = ::sigtimedwait(&held_, nullptr, &left);
    if (number > 0) caught_ = number;
  }
  return false;
}

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

Result<ScratchFolder> ScratchFolder::make(const std::string& folder, size_t files) {
  ScratchFolder scratch;
  std::string path = folder + "/.trainscope-measure-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return Error::from_errno("cannot create a folder", errno);
  scratch.path_ = path;
  for (size_t i = 0; i < files; ++i) {
    const std::string file = fmt::format("{}/{}", path, i);
    TS_TRY(const UniqueFd fd, open_file(file, O_WRONLY | O_CREAT | O_EXCL));
    scratch.files_.push_back(file);
  }
  return scratch;
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  for (const std::string& file : files_) ::unlink(file.c_str());
  ::rmdir(path_.c_str());
}

}  // namespace trainscope
