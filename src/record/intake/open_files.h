// What /proc shows of the files that a process has open, and of what it wrote.
//
// Limits: only processes of the same user, unless we are root.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainscope {

struct OpenFile {
  int64_t position = 0;
  int flags = 0;
  bool is_writable() const { return (flags & O_ACCMODE) != O_RDONLY; }
};
// A descriptor of a process; nothing if it is closed or not readable.
std::optional<OpenFile> open_file_of(pid_t pid, int fd);
// The base name of its file.
std::string file_name_of(pid_t pid, int fd);
std::vector<int> descriptors_of(pid_t pid);
// Are these two descriptors one open file, with one position?
bool is_same_open_file(pid_t a, int fd_a, pid_t b, int fd_b);

// Bytes that a process has written so far, to any file; -1 if we may not read it.
int64_t written_by(pid_t pid);

struct WrittenElsewhere {
  int64_t bytes = 0;         // sum of the positions of all other files that it writes to
  bool may_be_more = false;  // it has a writable file without a position, besides 0 to 2
};
// What it may have written to files of other names.
WrittenElsewhere written_elsewhere_by(pid_t pid, const std::string& name);

std::string command_name(pid_t pid);

}  // namespace trainscope
