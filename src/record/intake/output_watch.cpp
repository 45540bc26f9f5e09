#include "record/intake/output_watch.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/interrupted.h"

namespace trainscope {

OutputWatch::OutputWatch(const std::vector<int>& files) {
  if (files.empty()) return;
  fd_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  bool watched = static_cast<bool>(fd_);
  for (const int file : files) {
    // By the descriptor, whatever has become of the name.
    const std::string path = fmt::format("/proc/self/fd/{}", file);
    watched = watched && ::inotify_add_watch(fd_.get(), path.c_str(), IN_MODIFY | IN_OPEN) >= 0;
  }
  if (watched) return;
  reason_ = ::strerror(errno);
  fd_.reset();
}

bool OutputWatch::take_events() {
  alignas(inotify_event) char bytes[4096];
  bool was_opened = false;
  if (!fd_) return false;
  for (;;) {
    const ssize_t n = retry_interrupted([&] { return ::read(fd_.get(), bytes, sizeof bytes); });
    if (n <= 0) return was_opened;
    for (ssize_t at = 0; at < n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(bytes + at);
      was_opened = was_opened || (event->mask & (IN_OPEN | IN_Q_OVERFLOW)) != 0;
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
}

}  // namespace trainscope
