#include "record/supervise/reaped_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/interrupted.h"
#include "base/text.h"

namespace trainscope {

namespace {

// By one call, which the next text has counted.
std::string own_io() {
  const auto fd = open_file("/proc/self/io", O_RDONLY);
  std::string text(1024, '\0');
  const ssize_t n =
      fd ? retry_interrupted([&] { return ::read(fd->get(), text.data(), text.size()); }) : 0;
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, n)));
  return text;
}

int64_t io_number(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = text.substr(at + name.size());
  return parse_integer(trim(rest.substr(0, rest.find('\n')))).value_or(0);
}

}  // namespace

bool reap_with_io(const std::function<bool()>& reap, Reaped& sum) {
  const std::string before = own_io();
  if (!reap()) return false;
  const std::string after = own_io();
  if (before.empty() || after.empty()) return true;
  const auto add = [&](std::atomic<int64_t>& to, std::string_view name, int64_t ours) {
    to += std::max<int64_t>(0, io_number(after, name) - io_number(before, name) - ours);
  };
  add(sum.read_chars, "rchar: ", static_cast<int64_t>(before.size()));
  add(sum.write_chars, "wchar: ", 0);
  add(sum.read_calls, "syscr: ", 1);
  add(sum.write_calls, "syscw: ", 0);
  add(sum.read_bytes, "\nread_bytes: ", 0);
  add(sum.write_bytes, "\nwrite_bytes: ", 0);
  return true;
}

}  // namespace trainscope
