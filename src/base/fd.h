// File descriptors that close themselves, and whole-file reading and writing as Results.
//
// Everything opened here is close-on-exec: no descriptor leaks into the job.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainscope {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

Result<UniqueFd> open_file(const std::string& path, int flags, mode_t mode = 0600);

// The process or the system has no free descriptor: the same call may succeed later.
bool is_out_of_descriptors(const Error& error);
template <typename T>
bool is_out_of_descriptors(const Result<T>& result) {
  return !result && is_out_of_descriptors(result.error());
}

struct Pipe {
  UniqueFd read, write;
};
// `flags` as of pipe2, for both ends.
Result<Pipe> make_pipe(int flags = 0);

// The whole file, at most `limit` bytes; more is an error.
Result<std::string> read_file(const std::string& path, size_t limit = size_t{64} << 20);
// A regular file, opened for reading; anything else (a FIFO would wait for its writer) is an error.
Result<UniqueFd> open_regular_file(const std::string& path);
// The same, all of it.
Result<std::string> read_regular_file(const std::string& path, size_t limit);
// Of an open file; the path is for the Error.
Result<size_t> file_size(const UniqueFd& fd, const std::string& path);
// `length` bytes at `offset` into `out` from `begin` on; `out` ends where the file does.
Status read_part(const UniqueFd& fd, const std::string& path, size_t offset, size_t length,
                 std::string& out, size_t begin = 0);
// The first line without its newline; for one-value files of /proc and /sys.
Result<std::string> read_line(const std::string& path);

// Every byte or an error; EINTR and short writes are handled.
Status write_all(int fd, std::string_view bytes);
// A name in the folder of `path` that no other process uses, on any host of a shared file system.
std::string neighbour_name(const std::string& path);
// Writes a neighbour file and renames it over `path`: readers see the old or the new, never half,
// however many write at once.
Status replace_file(const std::string& path, std::string_view bytes);

// Names in a folder, sorted, without . and ..; an unreadable folder is an error.
Result<std::vector<std::string>> list_folder(const std::string& path);
// The same; none if the folder cannot be read.
std::vector<std::string> names_in(const std::string& folder);

bool exists(const std::string& path);
// Empty if it was removed.
std::string current_folder();
// A relative path as seen from `folder`; unchanged if it is absolute or empty, or the folder is
// unknown ("").
std::string absolute_path(const std::string& path, const std::string& folder);

// No descriptor that is opened later becomes 0, 1 or 2. If the caller closed one of these, it is
// closed for programs that this process starts too: ours closes on exec.
void hold_standard_descriptors();
// Standard input, output and error of this process become /dev/null.
void null_standard_streams();
// Closes every descriptor from `first` to `last`, open or not.
void close_range_of(unsigned first, unsigned last = ~0U);
// Closes every descriptor from `first` on except these; negative ones are ignored. Needs no free
// descriptor.
void close_all_but(std::vector<int> kept, unsigned first = 0);

}  // namespace trainscope
