#include "train/progress_pipe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>

namespace trainscope::workload {
namespace {

constexpr std::size_t kMaxLineBytes = 4096;

std::string number_text(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string time_text(double time_s) { return " t=" + std::to_string(std::llround(time_s * 1e9)); }

std::string loss_text(double loss) { return " loss=" + number_text("%.6g", loss); }

// write() that a vanished reader answers with EPIPE alone: a signal would end the training, and
// ignoring SIGPIPE for the process would keep it running after its own stdout is gone.
bool write_without_signal(int descriptor, const std::string& line) {
  sigset_t pipe_signal;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = write(descriptor, line.data(), line.size());
  if (written < 0 && errno == EPIPE && !was_pending) {
    const timespec at_once{};
    while (sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return written == static_cast<ssize_t>(line.size());
}

}  // namespace

ProgressPipe::ProgressPipe(const char* path) {
  if (path == nullptr || *path == '\0') return;
  descriptor_ = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  struct stat status {};
  // A regular file of that name would be overwritten from its start.
  if (descriptor_ >= 0 && (fstat(descriptor_, &status) != 0 || !S_ISFIFO(status.st_mode))) {
    close(descriptor_);
    descriptor_ = -1;
  }
}

ProgressPipe::~ProgressPipe() {
  if (descriptor_ >= 0) close(descriptor_);
}

void ProgressPipe::step(std::uint64_t number, double loss, double time_s) {
  send("step " + std::to_string(number) + loss_text(loss) + time_text(time_s));
}

void ProgressPipe::epoch(std::uint64_t number, double loss, double time_s) {
  send("epoch " + std::to_string(number) + loss_text(loss) + time_text(time_s));
}

void ProgressPipe::begin(std::string_view phase, double time_s) {
  send("begin " + std::string(phase) + time_text(time_s));
}

void ProgressPipe::end(std::string_view phase, double time_s) {
  send("end " + std::string(phase) + time_text(time_s));
}

void ProgressPipe::phase(std::string_view name, double duration_s, double time_s,
                         std::string_view who) {
  std::string line = "phase " + std::string(name) + " " + number_text("%.9f", duration_s);
  if (!who.empty()) line += " who=" + std::string(who);
  send(line + time_text(time_s));
}

void ProgressPipe::batch(std::uint64_t items) { send("batch " + std::to_string(items)); }

void ProgressPipe::scalar(std::string_view name, double value, std::string_view set,
                          double time_s) {
  send("scalar " + std::string(name) + " " + number_text("%.6g", value) +
       " set=" + std::string(set) + time_text(time_s));
}

void ProgressPipe::mark(std::string_view text, double time_s) {
  send("mark " + std::string(text) + time_text(time_s));
}

// Two threads may both find that something is untold; only the one that moves told_ says it.
void ProgressPipe::tell_dropped() {
  std::uint64_t told = told_;
  const std::uint64_t dropped = dropped_;
  if (dropped <= told || !told_.compare_exchange_strong(told, dropped)) return;
  const std::string line = "dropped " + std::to_string(dropped - told) + "\n";
  if (!write_without_signal(descriptor_, line)) told_ -= dropped - told;
}

void ProgressPipe::send(std::string line) {
  if (descriptor_ < 0) return;
  tell_dropped();
  line += '\n';
  if (line.size() > kMaxLineBytes || !write_without_signal(descriptor_, line)) ++dropped_;
}

}  // namespace trainscope::workload
