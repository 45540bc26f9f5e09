// Output that a slow recorder did not get: half a line and half of another must not become one.
#include <gtest/gtest.h>

#include "base/text.h"
#include "record/intake/printed.h"
#include "record/sample/test_ring.h"

namespace trainscope {
namespace printed_gap_test {

class PrintedGap : public testing::Test {
 protected:
  ~PrintedGap() override { memory_.unmap(); }

  // The stored lines of this output, without time and source.
  std::string kept(const std::string& output, const std::string& pattern, bool is_cut = false) {
    MatchingBudget unlimited{0, [] { return int64_t{0}; }};
    PrintedSteps printed(sink_, pattern, unlimited);
    // In pieces, as a pipe may give it.
    for (size_t i = 0; i < output.size(); i += 7) printed.take(output.substr(i, 7), 1);
    printed.finish(is_cut);
    std::string lines;
    const std::string stored = take_reports(ring_);
    for (const std::string_view line : split(stored, '\n')) {
      if (!line.empty()) lines += std::string(line.substr(line.find("output ") + 7)) + "\n";
    }
    return lines;
  }

  SharedMemory memory_ = *SharedMemory::create(1 << 20);
  Ring ring_{memory_};
  ProgressSink sink_{ring_, memory_};
  const std::string gap_{kOutputGap};
};

TEST_F(PrintedGap, neither_half_is_a_step) {
  EXPECT_EQ(kept("step 1 loss 1\nstep 12" + gap_ + "34 loss 9\nstep 5 loss 5\n", ""),
            "step 1 loss=1\nstep 5 loss=5\n");
  const std::string pattern = R"((?<step>\d+) loss)";
  EXPECT_EQ(kept("1 loss\n2 loss\n" + gap_ + "77 loss\n8 loss\n", pattern),
            "step 1\nstep 2\nstep 8\n");
  EXPECT_EQ(kept("1 loss\n" + gap_ + gap_ + "77 loss\n8 loss\n", pattern), "step 1\nstep 8\n");
}

TEST_F(PrintedGap, the_last_line_is_no_step_if_its_end_is_missing) {
  const std::string pattern = R"(step (?<step>\d+))";
  EXPECT_EQ(kept("step 1\nstep 12", pattern, true), "step 1\n");
  EXPECT_EQ(kept("step 1\nstep 12", pattern), "step 1\nstep 12\n");
  EXPECT_EQ(kept("step 1\nstep" + gap_ + " step 2", pattern), "step 1\n");
}

}  // namespace printed_gap_test
}  // namespace trainscope
