#include "collect/support/programs/helper_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.h"
#include "base/text.h"
#include "collect/support/programs/child_lines.h"

namespace trainscope {
namespace helper_process_test {

// All that a program prints until it ends.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  HelperProcess helper;
  HelperPlan plan;
  plan.program = program;
  plan.arguments = arguments;
  plan.out = write_end.get();
  const Status started = helper.start(plan);
  EXPECT_TRUE(started) << started.error().message();
  write_end.reset();
  std::string all;
  char part[4096];
  for (ssize_t n = 0; (n = ::read(read_end.get(), part, sizeof part)) > 0;) {
    all.append(part, static_cast<size_t>(n));
  }
  return all;
}

struct Variable {
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = ::getenv(name)) before_ = old;
    ::setenv(name, value, 1);
  }
  ~Variable() { before_.empty() ? ::unsetenv(name_) : ::setenv(name_, before_.c_str(), 1); }
  const char* name_;
  std::string before_;
};

TEST(HelperProcess, sees_a_fixed_small_environment) {
  const Variable preload("LD_AUDIT", "/nonexistent.so"), path("PATH", "/tmp:."),
      python("PYTHONPATH", "/x"), libraries("LD_LIBRARY_PATH", ".:/opt/driver::lib:/usr/local/x");
  EXPECT_EQ(output_of("/usr/bin/env", {}),
            "PATH=/usr/sbin:/usr/bin:/sbin:/bin\nLC_ALL=C\n"
            "LD_LIBRARY_PATH=/opt/driver:/usr/local/x\n");
}

TEST(HelperProcess, works_in_the_root_folder_in_a_group_of_its_own) {
  const std::string text =
      output_of("/bin/sh", {"-c", "pwd; cut -d' ' -f1,5 /proc/$$/stat; echo ..."});
  const auto lines = split(text, '\n');
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[0], "/");
  const auto words = fields(lines[1]);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0], words[1]);
}

// Neither ours nor those that our caller left open without close-on-exec.
TEST(HelperProcess, has_no_descriptors_but_its_own) {
  const UniqueFd left_open(::open("/dev/null", O_RDONLY));  // NOLINT: without O_CLOEXEC on purpose
  EXPECT_EQ(output_of("/bin/sh", {"-c", "for fd in /proc/$$/fd/[3-9]; do readlink $fd; done"}), "");
}

TEST(HelperProcess, has_default_signals) {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const std::string text = output_of("/bin/grep", {"-E", "^Sig(Blk|Ign)", "/proc/self/status"});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_THAT(text, ::testing::HasSubstr("SigBlk:\t0000000000000000\n"));
  const size_t at = text.find("SigIgn:\t");
  ASSERT_NE(at, std::string::npos) << text;
  // 32 and 33 are the C library's own, which nobody can set; a caller may have had them ignored.
  constexpr uint64_t kOfTheLibrary = 3ULL << 31U;
  EXPECT_EQ(std::strtoull(text.c_str() + at + 8, nullptr, 16) & ~kOfTheLibrary, 0U) << text;
}

TEST(HelperProcess, as_root_keeps_only_what_drivers_ask_for) {
  const auto limit = read_file("/proc/self/status");
  ASSERT_TRUE(limit);
  if (limit->find("CapBnd:\t0000000000000000") != std::string::npos || ::geteuid() != 0) {
    GTEST_SKIP() << "only root has capabilities to lose";
  }
  const std::string text = output_of("/bin/grep", {"^CapEff", "/proc/self/status"});
  const uint64_t effective = std::strtoull(text.substr(text.find('\t')).c_str(), nullptr, 16);
  EXPECT_EQ(effective & (1ULL << 7U), 0U) << "CAP_SETUID";
  EXPECT_EQ(effective & (1ULL << 12U), 0U) << "CAP_NET_ADMIN";
  EXPECT_EQ(effective & (1ULL << 5U), 0U) << "CAP_KILL";
}

// An emulator of another CPU gives the child memory of its own.
bool has_shared_memory_with_parent() {
  char name[] = "/nonexistent/program";
  char* const arguments[] = {name, nullptr};
  pid_t pid = 0;
  if (::posix_spawn(&pid, name, nullptr, nullptr, arguments, nullptr) != 0) return true;
  ::waitpid(pid, nullptr, 0);
  return false;
}

TEST(HelperProcess, says_why_a_program_cannot_be_started) {
  if (!has_shared_memory_with_parent()) GTEST_SKIP() << "the emulator cannot tell why exec fails";
  HelperProcess helper;
  HelperPlan plan;
  plan.program = "/nonexistent/program";
  const Status missing = helper.start(plan);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().error_number(), ENOENT);
  EXPECT_EQ(helper.pid(), 0);
  plan.program = "sh";  // would be searched for in the working directory or in PATH
  EXPECT_FALSE(helper.start(plan));
}

TEST(HelperProcess, ends_with_its_whole_group) {
  ChildLines lines;
  ASSERT_TRUE(lines.start("/bin/sh", {"-c", "sleep 600 & echo $!; wait"}));
  std::string line;
  ASSERT_TRUE(lines.wait_for_line(line, 60'000'000'000));
  const auto child = parse_integer(line);
  ASSERT_TRUE(child);
  lines.stop();
  // Killed already; the process that reaps orphans here may take its time.
  const auto state = [&] {
    const auto stat = read_line("/proc/" + line + "/stat");
    return stat ? stat->substr(stat->rfind(')') + 2, 1) : std::string("gone");
  };
  for (int i = 0; i < 6000 && state() != "gone" && state() != "Z" && state() != "X"; ++i) {
    ::usleep(10'000);
  }
  EXPECT_TRUE(state() == "gone" || state() == "Z" || state() == "X") << state();
}

}  // namespace helper_process_test
}  // namespace trainscope
