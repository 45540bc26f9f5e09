// The job that the cost benchmark records: five processes, 1.8 GB resident in small pages, some of
// it busy.
//
//   target [--megabytes N] [--spin N] [--seconds N]
//
// The first process and one child wait; one child computes half of the time on one of its four
// threads, one walks its memory now and then, one writes a file and reads it back. --spin N adds N
// threads that compute all the time. It ends with its parent, or after --seconds.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

volatile double result = 1.0;

void compute_for(Clock::duration time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
    for (int i = 0; i < 1000; ++i) result = result * 1.0000001 + 1e-9;
  }
}

std::vector<char*> pages;  // one pointer a page that was touched

void occupy(size_t megabytes) {
  const size_t bytes = megabytes << 20U;
  auto* memory = static_cast<char*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) std::exit(1);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += 4096) {
    memory[at] = 1;
    pages.push_back(memory + at);
  }
}

void wait_forever() {
  for (;;) pause();
}

void compute_half() {
  std::vector<std::thread> idle;
  for (int i = 0; i < 3; ++i) idle.emplace_back(wait_forever);
  for (;;) {
    compute_for(milliseconds(5));
    std::this_thread::sleep_for(milliseconds(5));
  }
}

void walk_memory() {
  for (;;) {
    for (size_t i = 0; i < pages.size(); i += 16) ++*pages[i];
    std::this_thread::sleep_for(milliseconds(50));
  }
}

void write_and_read() {
  char name[] = "/tmp/trainscope-target-XXXXXX";
  const int fd = mkstemp(name);
  if (fd < 0) std::exit(1);
  unlink(name);
  static char block[65536];
  for (int i = 0;; ++i) {
    const off_t at = static_cast<off_t>(i % 512) * static_cast<off_t>(sizeof block);
    if (pwrite(fd, block, sizeof block, at) < 0 || pread(fd, block, sizeof block, at) < 0)
      std::exit(1);
    std::this_thread::sleep_for(milliseconds(20));
  }
}

void start_child(size_t megabytes, const std::function<void()>& work) {
  const pid_t parent = getpid();
  if (fork() != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::exit(0);
  occupy(megabytes);
  work();
}

}  // namespace

int main(int argc, char** argv) {
  size_t megabytes = 1800;
  int spin = 0, seconds = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--megabytes") megabytes = std::strtoul(argv[i + 1], nullptr, 10);
    if (option == "--spin") spin = std::atoi(argv[i + 1]);
    if (option == "--seconds") seconds = std::atoi(argv[i + 1]);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const size_t share = megabytes / 9;
  for (const auto& work : {compute_half, walk_memory, write_and_read, wait_forever}) {
    start_child(2 * share, work);
  }
  occupy(share);
  std::vector<std::thread> spinners;
  for (int i = 0; i < spin; ++i) {
    spinners.emplace_back([] {
      for (;;) compute_for(milliseconds(100));
    });
  }
  std::printf("ready\n");
  std::fflush(stdout);
  if (seconds > 0)
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
  else
    wait_forever();
  std::_Exit(0);
}
