// The lower bound of recording: reads the files that the recorder keeps open, as often as it does,
// and does nothing else. No parsing, no storing.
//
//   lower_bound EVERY_US < LIST
//
// A line of LIST: `tick` or `second`, how many preads a reading takes, how many bytes are
// requested, and the path. It wakes up as the recorder does: a condition variable with a deadline,
// and no timer slack. On SIGTERM it prints how many ticks it took and how many preads failed.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct File {
  int fd = -1;
  int preads = 1;
  std::vector<char> buffer;
};

volatile std::sig_atomic_t stopped = 0;
long failed = 0;

void read_all(std::vector<File>& files) {
  for (File& file : files) {
    off_t at = 0;
    for (int i = 0; i < file.preads; ++i) {
      const ssize_t n = pread(file.fd, file.buffer.data(), file.buffer.size(), at);
      if (n < 0)
        ++failed;
      else
        at += n;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto period = std::chrono::microseconds(std::atol(argv[1]));
  const auto second = std::max<Clock::duration>(period, std::chrono::seconds(1));
  std::vector<File> tick_files, second_files;
  std::string pace, path;
  size_t bytes = 0;
  File file;
  while (std::cin >> pace >> file.preads >> bytes >> path) {
    file.fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file.fd < 0) {
      std::fprintf(stderr, "lower_bound: cannot open %s\n", path.c_str());
      return 1;
    }
    file.buffer.assign(bytes, 0);
    (pace == "tick" ? tick_files : second_files).push_back(file);
  }
  std::signal(SIGTERM, [](int) { stopped = 1; });
  prctl(PR_SET_TIMERSLACK, 1);
  std::mutex mutex;
  std::condition_variable wake;
  long ticks = 0;
  const auto zero = Clock::now();
  for (auto due = zero, second_due = zero; stopped == 0; due += period) {
    {
      std::unique_lock lock(mutex);
      wake.wait_until(lock, due, [] { return stopped != 0; });
    }
    read_all(tick_files);
    ++ticks;
    if (due < second_due) continue;
    read_all(second_files);
    second_due += second;
  }
  std::printf("%ld %ld\n", ticks, failed);
}
