#include "parse/pattern.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <vector>

namespace trainscope {
namespace pattern_test {

constexpr uint32_t kLimit = 100'000;

std::optional<Pattern> compiled(std::string_view pattern) {
  Pattern::Fault fault;
  return Pattern::compile(pattern, Pattern::Text::utf8, kLimit, fault);
}

// As systemd's MemoryDenyWriteExecute does: no memory that can be written and executed.
bool refuse_executable_memory() {
  constexpr uint32_t kBoth = PROT_WRITE | PROT_EXEC;
  std::array<sock_filter, 7> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kBoth),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kBoth, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program = {filter.size(), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Pattern, finds_and_gives_what_groups_took) {
  const auto pattern = compiled(R"(step (?<step>\d+)(?: loss (?<loss>\S+))?)");
  ASSERT_TRUE(pattern);
  const std::string_view text = "at step 12, of 30";
  ASSERT_EQ(pattern->find_in(text), Pattern::Answer::yes);
  EXPECT_EQ(pattern->group(pattern->group_number("step"), text), "12");
  EXPECT_EQ(pattern->group(pattern->group_number("loss"), text), std::nullopt);
  EXPECT_EQ(pattern->find_in("at rest"), Pattern::Answer::no);
}

TEST(Pattern, gives_up_on_a_text_that_costs_too_much) {
  const auto pattern = compiled("(1+)+[xy]");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->find_in(std::string(3000, '1') + "!"), Pattern::Answer::too_costly);
}

TEST(Pattern, needs_more_stack_than_machine_code_has) {
  const auto pattern = compiled(R"((?:(?:(.)(?=(.)|(.)))+)\d$)");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->find_in(std::string(4000, 'a') + "1"), Pattern::Answer::yes);
}

TEST(Pattern, is_interpreted_where_memory_may_not_be_written_and_executed) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!refuse_executable_memory()) ::_exit(77);
    // The first ones may fit into memory that was allowed before.
    std::vector<std::optional<Pattern>> patterns;
    do {
      patterns.push_back(compiled(R"(step (?<step>\d+))"));
    } while (patterns.back() && patterns.back()->is_native() && patterns.size() < 10'000);
    const auto& pattern = patterns.back();
    const bool works = pattern && !pattern->is_native() &&
                       pattern->find_in("step 5") == Pattern::Answer::yes &&
                       pattern->find_in("step") == Pattern::Answer::no;
    ::_exit(works ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp filter allowed";
  EXPECT_EQ(status, 0);
}

}  // namespace pattern_test
}  // namespace trainscope
