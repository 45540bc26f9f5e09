#include "record/supervise/status_line.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr std::string_view kWipeRow = "\r\033[K", kWipeBelow = "\r\033[J";

// 1:02:03 or 2:03
std::string clock_text(int64_t ns) {
  const int64_t s = ns / kNsPerSecond;
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

// The text cut to so many columns; all our characters are one column wide.
std::string cut(const std::string& text, size_t columns) {
  if (display_width(text) <= columns) return text;
  std::string out;
  for (const char c : text) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (begins && display_width(out) >= columns) break;
    out += c;
  }
  return out;
}

}  // namespace

std::string StatusLine::compose(const Shared& shared) {
  const int64_t now = monotonic_ns();
  const int64_t cpu = shared.job_cpu_us, disk = shared.disk_bytes, memory = shared.job_memory_bytes;
  const double seconds = to_seconds(now - last_ns_);
  if (last_ns_ != 0 && seconds > 0.4) {
    if (cpu >= 0 && last_cpu_us_ >= 0 && cpus_ > 0) {
      const double share = static_cast<double>(cpu - last_cpu_us_) / 1e6 / seconds;
      cpu_text_ = fmt::format("CPU {:.0f}% of {}", 100 * share / cpus_, number_text(cpus_));
    }
    if (disk >= 0 && last_disk_bytes_ >= 0) {
      disk_text_ =
          "disk " + bytes_text(static_cast<double>(disk - last_disk_bytes_) / seconds) + "/s";
    }
  }
  if (last_ns_ == 0 || seconds > 0.4) {
    last_ns_ = now;
    last_cpu_us_ = cpu;
    last_disk_bytes_ = disk;
  }
  std::string text = clock_text(std::max<int64_t>(0, now - shared.zero_ns));
  if (limit_ns_ > 0) text += "/" + clock_text(limit_ns_);
  if (!cpu_text_.empty()) text += " · " + cpu_text_;
  if (memory >= 0) text += " · memory " + bytes_text(static_cast<double>(memory));
  if (!disk_text_.empty()) text += " · " + disk_text_;
  if (shared.gpu_percent >= 0) text += fmt::format(" · GPU {}%", shared.gpu_percent.load());
  if (shared.step >= 0) text += fmt::format(" · step {}", shared.step.load());
  return "trainscope " + text;
}

void StatusLine::draw(const Shared& shared, bool at_line_start) {
  if (!enabled() || shared.zero_ns == 0) return;
  const std::string text = compose(shared);
  if (!at_line_start || !may_write()) return;
  // One column is left free: a full line would wrap. The cursor goes back to the first column:
  // there the terminal's echo of a key (^C) does not wrap either.
  const std::string shown = cut(text, columns() - 1);
  (void)write_all(fd_, fmt::format("{}\033[2m{}\033[0m\r", wipe_text(), shown));
  shown_columns_ = display_width(shown);
}

size_t StatusLine::columns() const {
  winsize size{};
  return ::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// If the window has shrunk, the terminal may show the line in several rows, from the cursor on.
std::string_view StatusLine::wipe_text() const {
  return shown_columns_ > columns() ? kWipeBelow : kWipeRow;
}

// In the foreground, and the terminal takes bytes now.
bool StatusLine::may_write() const {
  const pid_t foreground = ::tcgetpgrp(fd_);  // -1: it is not our controlling terminal
  if (foreground > 0 && foreground != ::getpgrp()) return false;
  pollfd room = {fd_, POLLOUT, 0};
  return ::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0;
}

void StatusLine::wipe() {
  if (shown_columns_ == 0 || !may_write()) return;
  (void)write_all(fd_, wipe_text());
  shown_columns_ = 0;
}

bool StatusLine::takes_message(int fd) {
  pollfd room = {fd, POLLOUT, 0};
  return ::poll(&room, 1, 0) == 1;
}

void StatusLine::print_message(int stderr_fd, const std::string& text, bool at_line_start) {
  wipe();
  (void)write_all(stderr_fd,
                  (at_line_start ? "" : "\n") + ("trainscope: " + printable(text)) + "\n");
}

}  // namespace trainscope
