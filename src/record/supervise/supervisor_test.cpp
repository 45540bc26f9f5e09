#include "record/supervise/supervisor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>

#include "base/clock.h"

// Of the thread sanitizer; null without it.
extern "C" [[gnu::weak]] void __tsan_init();  // NOLINT(bugprone-reserved-identifier)

namespace trainscope {
namespace supervisor_test {

// Signals and standard descriptors belong to a process: each test has its own. Returns its exit
// code, or 128 and the signal that ended it; a process that hangs is ended by SIGALRM.
int in_own_process(const std::function<int()>& test) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(30);
    ::_exit(test());
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

SignalInbox open_inbox() {
  auto inbox = SignalInbox::open(true);
  return std::move(*inbox);
}

// A recorder that does nothing, and a supervisor around it.
struct Supervised {
  SharedMemory memory = *SharedMemory::create(1 << 20);
  OutputPlan output;
  SignalInbox inbox = open_inbox();
  UniqueFd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  UniqueFd ready{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  RecorderMonitor monitor{
      {memory, wake.get(), ready.get(), -1, kNsPerSecond, [](const std::string&) {
         ::prctl(PR_SET_PDEATHSIG, SIGKILL);
         sigset_t all;
         sigfillset(&all);
         ::sigprocmask(SIG_SETMASK, &all, nullptr);
         for (;;) ::pause();
       }}};
  StatusLine status{-1, 0, 0};
  Supervisor supervisor{memory, output, inbox, monitor, status, -1};

  Supervised() {
    begin_time(*memory);
    EXPECT_TRUE(monitor.start());
  }
  ~Supervised() {
    ::kill(monitor.pid(), SIGKILL);
    ::waitpid(monitor.pid(), nullptr, 0);
  }
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;
};

// stderr is a pipe that takes no byte more; returns the end to read from.
int fill_stderr() {
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return -1;
  char page[4096] = {};
  while (::write(ends[1], page, sizeof page) > 0) {
  }
  ::fcntl(ends[1], F_SETFL, 0);
  ::dup2(ends[1], STDERR_FILENO);
  return ends[0];
}

TEST(Supervisor, a_message_that_nobody_reads_does_not_delay_the_job) {
  EXPECT_EQ(in_own_process([] {
              Supervised run;
              const int reader = fill_stderr();
              leave_message(*run.memory, "recording paused");
              const JobEnd end = run.supervisor.run({"sh", "-c", "exit 7"}, {}, 0, 0);
              ::close(reader);
              return end.exit_code.value_or(0);
            }),
            7);
}

TEST(Supervisor, a_message_is_shown_while_the_job_runs) {
  EXPECT_EQ(in_own_process([] {
              Supervised run;
              int ends[2];
              if (::pipe2(ends, O_CLOEXEC) != 0) return 1;
              ::dup2(ends[1], STDERR_FILENO);
              leave_message(*run.memory, "recording paused");
              (void)run.supervisor.run({"sh", "-c", "exit 7"}, {}, 0, 0);
              char text[100] = {};
              const ssize_t size = ::read(ends[0], text, sizeof text);
              const std::string_view shown(text, size < 0 ? 0 : static_cast<size_t>(size));
              return shown == "trainscope: recording paused\n" ? 0 : 2;
            }),
            0);
}

// The job's process has our handlers until it starts its program.
TEST(Supervisor, a_signal_to_the_group_before_exec_ends_the_job) {
  EXPECT_EQ(in_own_process([] {
              const SignalInbox inbox = open_inbox();
              ::pthread_atfork(nullptr, nullptr, [] { ::raise(SIGTERM); });
              const auto launched = launch({"sleep", "60"}, {}, OutputPlan{});
              int status = 0;
              if (!launched || ::waitpid(launched->pid, &status, 0) != launched->pid) return -1;
              return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            }),
            SIGTERM);
}

// Waits for its disk, and uses CPU time again whenever one of its own limits has passed.
void hang_after_the_job(SharedMemory memory) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // else it would keep the output of a test that fails open
  while (memory->stop == 0) ::usleep(1000);
  memory->finished = kWriting;
  for (int limits = 0; limits < 3; ++limits) {
    ::usleep(300'000);
    const int64_t begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns < kNsPerMs) {
    }
  }
  for (;;) ::pause();
}

TEST(RecorderMonitor, a_hanging_disk_is_waited_for_two_seconds_at_most) {
  if (&__tsan_init != nullptr) {
    GTEST_SKIP() << "the sanitizer's own thread uses CPU time: nothing looks as if it hung";
  }
  EXPECT_EQ(
      in_own_process([] {
        constexpr int64_t kLimit = 1800 * kNsPerMs;
        int64_t shortest_ns = INT64_MAX;  // a busy machine may be late, but not each time
        for (int attempt = 0; attempt < 10 && shortest_ns >= kLimit; ++attempt) {
          SharedMemory memory = *SharedMemory::create(1 << 20);
          RecorderMonitor monitor{{memory, -1, -1, -1, kNsPerSecond,
                                   [memory](const std::string&) { hang_after_the_job(memory); }}};
          if (!monitor.start()) return 2;
          const int64_t ended_ns = memory->job_ended_ns = monotonic_ns();
          if (monitor.finish() != RecorderEnd::still_writing) return 3;
          shortest_ns = std::min(shortest_ns, monotonic_ns() - ended_ns);
          ::kill(monitor.pid(), SIGKILL);
          ::waitpid(monitor.pid(), nullptr, 0);
        }
        return shortest_ns < kLimit ? 0 : 4;
      }),
      0);
}

// The supervisor's stack would run the job again, with --repeat.
TEST(RecorderMonitor, an_exception_ends_the_process_of_the_recorder) {
  EXPECT_EQ(in_own_process([] {
              const pid_t self = ::getpid();
              RecorderMonitor monitor{
                  {*SharedMemory::create(1 << 20), -1, -1, -1, kNsPerSecond,
                   [](const std::string&) { throw std::runtime_error("no thread"); }}};
              try {
                (void)monitor.start();
              } catch (const std::runtime_error&) {
                ::_exit(::getpid() == self ? 2 : 3);
              }
              if (::getpid() != self) ::_exit(4);
              int status = 0;
              ::waitpid(monitor.pid(), &status, 0);
              return WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 0 : 5;
            }),
            0);
}

}  // namespace supervisor_test
}  // namespace trainscope
