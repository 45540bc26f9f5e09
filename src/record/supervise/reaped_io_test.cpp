#include "record/supervise/reaped_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/fd.h"

namespace trainscope {
namespace reaped_io_test {

// A child that writes 1000 bytes `writes` times and starts one like it for each generation below.
void write_in_child(int writes, int generations) {
  const pid_t pid = ::fork();
  if (pid != 0) {
    ::waitpid(pid, nullptr, 0);
    return;
  }
  const int null = ::open("/dev/null", O_WRONLY);
  const std::array<char, 1000> bytes{};
  for (int i = 0; i < writes; ++i) (void)!::write(null, bytes.data(), bytes.size());
  if (generations > 0) write_in_child(writes, generations - 1);
  ::_exit(0);
}

TEST(ReapedIo, is_what_the_child_and_its_own_children_did) {
  if (!exists("/proc/self/io")) GTEST_SKIP() << "this kernel does not count I/O";
  Reaped sum;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(reap_with_io(
        [] {
          write_in_child(100, 1);
          return true;
        },
        sum));
    EXPECT_EQ(sum.write_chars, i * 200'000);
    EXPECT_EQ(sum.write_calls, i * 200);
    EXPECT_EQ(sum.read_chars, 0);
    EXPECT_EQ(sum.read_calls, 0);
  }
}

TEST(ReapedIo, is_nothing_of_one_that_was_not_reaped) {
  Reaped sum;
  EXPECT_FALSE(reap_with_io(
      [] {
        write_in_child(100, 0);
        return false;
      },
      sum));
  EXPECT_EQ(sum.write_chars, 0);
}

}  // namespace reaped_io_test
}  // namespace trainscope
