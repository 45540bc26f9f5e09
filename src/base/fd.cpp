#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "base/interrupted.h"

namespace trainscope {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<UniqueFd> open_file(const std::string& path, int flags, mode_t mode) {
  UniqueFd fd(retry_interrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); }));
  if (!fd) return Error::from_errno("cannot open " + path, errno);
  return fd;
}

bool is_out_of_descriptors(const Error& error) {
  return error.error_number() == EMFILE || error.error_number() == ENFILE;
}

Result<Pipe> make_pipe(int flags) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, flags | O_CLOEXEC) != 0) return Error::from_errno("cannot make a pipe", errno);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  TS_TRY(UniqueFd fd, open_file(path, O_RDONLY));
  std::string text;
  for (;;) {
    const size_t have = text.size();
    // Grows with the bytes read, so that a small /proc file needs a small buffer.
    const size_t room = std::max<size_t>(4096, have);
    text.resize(have + room);
    const ssize_t n = retry_interrupted([&] { return ::read(fd.get(), text.data() + have, room); });
    if (n < 0) return Error::from_errno("cannot read " + path, errno);
    text.resize(have + static_cast<size_t>(n));
    if (n == 0) return text;
    if (text.size() > limit) return Error(path + " is too large");
  }
}

Status read_part(const UniqueFd& fd, const std::string& path, size_t offset, size_t length,
                 std::string& out, size_t begin) {
  out.resize(begin + length);
  size_t have = 0;
  while (have < length) {
    const ssize_t n = retry_interrupted([&] {
      return ::pread(fd.get(), out.data() + begin + have, length - have,
                     static_cast<off_t>(offset + have));
    });
    if (n < 0) return Error::from_errno("cannot read " + path, errno);
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  out.resize(begin + have);
  return {};
}

Result<size_t> file_size(const UniqueFd& fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return Error::from_errno("cannot read " + path, errno);
  return static_cast<size_t>(info.st_size);
}

Result<UniqueFd> open_regular_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO without a writer would block.
  TS_TRY(UniqueFd fd, open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return Error::from_errno("cannot read " + path, errno);
  if (!S_ISREG(info.st_mode)) return Error(path + " is not a regular file");
  return fd;
}

Result<std::string> read_regular_file(const std::string& path, size_t limit) {
  TS_TRY(const UniqueFd fd, open_regular_file(path));
  TS_TRY(const size_t size, file_size(fd, path));
  if (size > limit) return Error(path + " is too large (" + std::to_string(size) + " bytes)");
  std::string bytes;
  TS_CHECK_OK(read_part(fd, path, 0, size, bytes));
  return bytes;
}

Result<std::string> read_line(const std::string& path) {
  TS_TRY(std::string text, read_file(path, 1 << 20));
  const size_t end = text.find('\n');
  if (end != std::string::npos) text.resize(end);
  return text;
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = retry_interrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (n < 0) return Error::from_errno("cannot write", errno);
    if (n == 0) return Error("cannot write: the file accepts no more bytes");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

std::string neighbour_name(const std::string& path) {
  uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
    bits = static_cast<uint64_t>(monotonic_ns()) * 1'000'003U + static_cast<uint64_t>(::getpid());
  }
  char digits[17] = {};
  (void)std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(bits));
  return path + ".new-" + digits;
}

Status replace_file(const std::string& path, std::string_view bytes) {
  const std::string next = neighbour_name(path);
  TS_TRY(UniqueFd fd, open_file(next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW));
  Status written = write_all(fd.get(), bytes).with_context(next);
  if (written && ::rename(next.c_str(), path.c_str()) != 0) {
    written = Error::from_errno("cannot rename " + next, errno);
  }
  if (!written) ::unlink(next.c_str());
  return written;
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
  DIR* dir = ::opendir(path.c_str());
  if (dir == nullptr) return Error::from_errno("cannot open " + path, errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> names_in(const std::string& folder) {
  auto names = list_folder(folder);
  return names ? std::move(*names) : std::vector<std::string>();
}

std::string current_folder() {
  char* text = ::getcwd(nullptr, 0);
  std::string folder = text == nullptr ? "" : text;
  ::free(text);
  return folder;
}

std::string absolute_path(const std::string& path, const std::string& folder) {
  if (path.empty() || path.front() == '/' || folder.empty()) return path;
  return (folder == "/" ? "" : folder) + "/" + path;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

void hold_standard_descriptors() {
  for (;;) {
    UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null || null.get() > STDERR_FILENO) return;
    (void)null.release();
  }
}

void null_standard_streams() {
  UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) ::dup2(null.get(), fd);
  if (null.get() <= STDERR_FILENO) (void)null.release();
}

void close_range_of(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  // Linux before 5.9.
  constexpr unsigned kLikelyMost = 4096;
  for (unsigned fd = first; fd <= std::min(last, kLikelyMost); ++fd) ::close(static_cast<int>(fd));
}

void close_all_but(std::vector<int> kept, unsigned first) {
  std::sort(kept.begin(), kept.end());
  for (const int fd : kept) {
    if (fd < static_cast<int>(first)) continue;
    if (fd > 0) close_range_of(first, static_cast<unsigned>(fd) - 1);
    first = static_cast<unsigned>(fd) + 1;
  }
  close_range_of(first);
}

}  // namespace trainscope
