#include "base/bounded_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
  const ChildAnswer answer = ask_child(limits, []() -> std::string {
    ::usleep(3'000'000);
    return "";
  });
  EXPECT_EQ(answer.end, ChildEnd::hung);
  write_end.reset();
  char byte = 0;
  EXPECT_EQ(::read(read_end.get(), &byte, 1), 0);  // the end, though the child still runs
}

}  // namespace bounded_child_test
}  // namespace trainscope
