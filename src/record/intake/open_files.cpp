#include "record/intake/open_files.h"

#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "base/fd.h"
#include "base/text.h"

namespace trainscope {

namespace {

// A pipe, a socket, an eventfd, a device: writing there moves no position.
bool has_no_position(pid_t pid, int fd) {
  struct stat st {};
  if (::stat(fmt::format("/proc/{}/fd/{}", pid, fd).c_str(), &st) != 0) return false;
  return !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode);
}

}  // namespace

std::string file_name_of(pid_t pid, int fd) {
  char path[PATH_MAX];
  const ssize_t size =
      ::readlink(fmt::format("/proc/{}/fd/{}", pid, fd).c_str(), path, sizeof path);
  const std::string_view text(path, size <= 0 ? 0 : static_cast<size_t>(size));
  return std::string(text.substr(text.rfind('/') + 1));
}

std::optional<OpenFile> open_file_of(pid_t pid, int fd) {
  const auto text = read_file(fmt::format("/proc/{}/fdinfo/{}", pid, fd));
  if (!text) return std::nullopt;
  OpenFile found;
  for (const std::string_view line : split(*text, '\n')) {
    const std::vector<std::string_view> words = fields(line);
    if (words.size() != 2) continue;
    if (words[0] == "pos:") found.position = parse_integer(words[1]).value_or(0);
    if (words[0] == "flags:") {
      found.flags = static_cast<int>(std::strtol(std::string(words[1]).c_str(), nullptr, 8));
    }
  }
  return found;
}

std::vector<int> descriptors_of(pid_t pid) {
  std::vector<int> found;
  const auto names = list_folder(fmt::format("/proc/{}/fd", pid));
  if (!names) return found;
  for (const std::string& name : *names) {
    if (const auto fd = parse_integer(name)) found.push_back(static_cast<int>(*fd));
  }
  return found;
}

bool is_same_open_file(pid_t a, int fd_a, pid_t b, int fd_b) {
  const long order = ::syscall(SYS_kcmp, a, b, KCMP_FILE, fd_a, fd_b);
  if (order >= 0) return order == 0;
  // A container may forbid the question: then those with the same position are one.
  const auto first = open_file_of(a, fd_a), second = open_file_of(b, fd_b);
  return first && second && first->position == second->position && first->flags == second->flags;
}

int64_t written_by(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/io", pid));
  if (!text) return -1;
  for (const std::string_view line : split(*text, '\n')) {
    const std::vector<std::string_view> words = fields(line);
    if (words.size() == 2 && words[0] == "wchar:") return parse_integer(words[1]).value_or(-1);
  }
  return -1;
}

WrittenElsewhere written_elsewhere_by(pid_t pid, const std::string& name) {
  WrittenElsewhere all;
  for (const int fd : descriptors_of(pid)) {
    const auto found = open_file_of(pid, fd);
    if (!found || !found->is_writable() || file_name_of(pid, fd) == name) continue;
    all.bytes += found->position;
    all.may_be_more = all.may_be_more || (fd > STDERR_FILENO && has_no_position(pid, fd));
  }
  return all;
}

std::string command_name(pid_t pid) {
  const auto name = read_line(fmt::format("/proc/{}/comm", pid));
  return name ? printable(*name) : "?";
}

}  // namespace trainscope
