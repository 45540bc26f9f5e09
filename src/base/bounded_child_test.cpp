#include "base/bounded_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"

namespace trainscope {
namespace bounded_child_test {

constexpr int64_t kLong = 60 * kNsPerSecond;

ChildLimits patient() {
  ChildLimits limits;
  limits.idle_ns = limits.total_ns = kLong;
  return limits;
}

TEST(BoundedChild, returns_what_the_work_returned) {
  const std::string long_text(3'000'000, 'x');
  const ChildAnswer answer = ask_child(patient(), [&] { return long_text; });
  EXPECT_EQ(answer.end, ChildEnd::done);
  EXPECT_EQ(answer.text, long_text);
  EXPECT_EQ(ask_child(patient(), [] { return std::string(); }).end, ChildEnd::done);
}

TEST(BoundedChild, an_answer_that_is_too_long_is_an_error_not_a_part_of_it) {
  const ChildAnswer longest =
      ask_child(patient(), [] { return std::string(size_t{16} << 20, 'x'); });
  EXPECT_EQ(longest.end, ChildEnd::done);
  EXPECT_EQ(longest.text.size(), size_t{16} << 20);
  const ChildAnswer answer =
      ask_child(patient(), [] { return std::string((size_t{16} << 20) + 1, 'x'); });
  ASSERT_EQ(answer.end, ChildEnd::failed);
  EXPECT_EQ(answer.text, "its reply is too long");
}

TEST(BoundedChild, an_exception_a_crash_and_a_lack_of_memory_cost_the_answer_alone) {
  EXPECT_EQ(ask_child(patient(), []() -> std::string { throw 1; }).end, ChildEnd::failed);
  EXPECT_EQ(ask_child(patient(), []() -> std::string { throw std::bad_alloc(); }).end,
            ChildEnd::out_of_memory);
  const ChildAnswer crash = ask_child(patient(), []() -> std::string {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    return "";
  });
  EXPECT_EQ(crash.end, ChildEnd::failed);
  EXPECT_NE(crash.text.find("crashed"), std::string::npos) << crash.text;
}

TEST(BoundedChild, is_interrupted_by_a_signal_unless_it_shall_not_be) {
  const auto interrupt = []() -> std::string {
    ::raise(SIGINT);
    return "on";
  };
  EXPECT_EQ(ask_child(patient(), interrupt).end, ChildEnd::interrupted);
  ChildLimits deaf = patient();
  deaf.heeds_signals = false;
  EXPECT_EQ(ask_child(deaf, interrupt).text, "on");
}

TEST(BoundedChild, one_that_hangs_is_given_up) {
  ChildLimits limits = patient();
  limits.idle_ns = kNsPerSecond / 5;
  const ChildAnswer answer = ask_child(limits, []() -> std::string {
    for (;;) ::pause();
  });
  EXPECT_EQ(answer.end, ChildEnd::hung);
}

TEST(BoundedChild, one_that_is_busy_for_too_long_is_given_up) {
  ChildLimits limits = patient();
  limits.total_ns = kNsPerSecond / 5;
  const ChildAnswer answer = ask_child(limits, []() -> std::string {
    for (;;) (void)monotonic_ns();
  });
  EXPECT_EQ(answer.end, ChildEnd::too_slow);
}

TEST(BoundedChild, signals_of_other_children_do_not_shorten_the_waiting) {
  struct sigaction noted {};
  struct sigaction before {};
  noted.sa_handler = [](int) {};  // no SA_RESTART, as in the supervisor
  ::sigaction(SIGCHLD, &noted, &before);
  std::vector<pid_t> others;
  for (int i = 1; i <= 20; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::usleep(static_cast<useconds_t>(i * 10'000));
      ::_exit(0);
    }
    others.push_back(pid);
  }
  const ChildAnswer answer = ask_child(patient(), []() -> std::string {
    ::usleep(300'000);
    return "told";
  });
  EXPECT_EQ(answer.text, "told");
  ::sigaction(SIGCHLD, &before, nullptr);
  for (const pid_t pid : others) ::waitpid(pid, nullptr, 0);
}

TEST(BoundedChild, holds_nothing_of_the_caller) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  ChildLimits limits = patient();
  limits.idle_ns = 0;
  limits.leave_behind = true;
  void* const memory = ::mmap(nullptr, sizeof(std::atomic<pid_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const child = new (memory) std::atomic<pid_t>(0);
  const ChildAnswer answer = ask_child(limits, [&]() -> std::string {
    *child = ::getpid();  // its files are closed before the work
    for (;;) ::pause();
  });
  EXPECT_EQ(answer.end, ChildEnd::hung);
  write_end.reset();
  const int64_t until = monotonic_ns() + kLong;
  while (*child == 0 && monotonic_ns() < until) ::usleep(1000);
  ASSERT_NE(*child, 0);
  pollfd end = {read_end.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 0), 1);
  EXPECT_EQ(end.revents, POLLHUP);                    // though
  EXPECT_EQ(::waitpid(*child, nullptr, WNOHANG), 0);  // the child still runs
  ::kill(*child, SIGKILL);
  ::waitpid(*child, nullptr, 0);
  ::munmap(memory, sizeof(std::atomic<pid_t>));
}

// The caller then does the work itself.
TEST(BoundedChild, without_a_free_descriptor_it_is_not_started) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const ChildAnswer answer = ask_child(patient(), [] { return std::string("done"); });
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(answer.end, ChildEnd::not_started);
  EXPECT_NE(answer.text.find("Too many open files"), std::string::npos) << answer.text;
}

}  // namespace bounded_child_test
}  // namespace trainscope
