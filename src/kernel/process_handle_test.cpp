#include "kernel/process_handle.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/descriptor_limit.h"

namespace trainscope {
namespace process_handle_test {

pid_t start_sleeper() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  return pid;
}

TEST(ProcessHandle, a_process_has_not_ended_because_no_descriptor_is_free) {
  const pid_t pid = start_sleeper();
  const int64_t start = start_ticks(pid);
  {
    const NoFreeDescriptors none;
    EXPECT_FALSE(ProcessHandle(pid, start).has_ended());
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(ProcessHandle(pid, start).has_ended());
}

TEST(ProcessHandle, signals_the_process_that_is_meant) {
  const pid_t pid = start_sleeper();
  const ProcessHandle process(pid, start_ticks(pid));
  EXPECT_FALSE(process.has_ended());
  EXPECT_TRUE(process.send(SIGKILL));
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(process.has_ended());
  EXPECT_FALSE(process.send(SIGKILL));
}

TEST(ProcessHandle, has_ended_before_it_is_reaped) {
  const pid_t pid = start_sleeper();
  const ProcessHandle process(pid);
  ::kill(pid, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(process.has_ended());
  ::waitpid(pid, nullptr, 0);
}

TEST(ProcessHandle, another_process_with_the_same_pid_is_left_alone) {
  const pid_t pid = start_sleeper();
  // As if the intended process had been started at another time.
  const ProcessHandle process(pid, start_ticks(pid) + 1);
  EXPECT_TRUE(process.has_ended());
  EXPECT_FALSE(process.send(SIGKILL));
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(ProcessHandle, nobody_is_no_process) {
  EXPECT_TRUE(ProcessHandle().has_ended());
  EXPECT_FALSE(ProcessHandle(0).send(SIGKILL));
}

}  // namespace process_handle_test
}  // namespace trainscope
