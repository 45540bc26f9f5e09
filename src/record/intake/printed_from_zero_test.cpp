// "i/N" of loops that count from 0, as enumerate() does: the line with the 0 is a step like the
// rest.
#include <gtest/gtest.h>

#include "base/text.h"
#include "record/intake/printed.h"
#include "record/sample/test_ring.h"

namespace trainscope {
namespace printed_from_zero_test {

class PrintedFromZero : public testing::Test {
 protected:
  ~PrintedFromZero() override { memory_.unmap(); }

  // The stored lines of this output, without time and source.
  std::string kept(const std::string& output) {
    MatchingBudget unlimited{0, [] { return int64_t{0}; }};
    PrintedSteps printed(sink_, "", unlimited, &line_);
    printed.take(output, 1);
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
  SharedLine line_;
};

TEST_F(PrintedFromZero, each_line_is_a_step) {
  EXPECT_EQ(kept("Step 0/3, Loss: 3\nStep 1/3, Loss: 2\nStep 2/3, Loss: 1\n"),
            "step 1 loss=3 of=3\nstep 2 loss=2 of=3\nstep 3 loss=1 of=3\n");
}

TEST_F(PrintedFromZero, in_each_epoch_and_for_a_recorder_that_was_restarted_as_well) {
  EXPECT_EQ(kept("Epoch: [0][ 0/20]\tLoss 7.0 (7.0)\nEpoch: [0][10/20]\tLoss 6.5 (6.9)\n"),
            "step 1 loss=7 epoch=0 of=20\nstep 11 loss=6.5 epoch=0 of=20\n");
  EXPECT_EQ(kept("Epoch: [1][10/20]\tLoss 6.0 (6.0)\n"), "step 11 loss=6 epoch=1 of=20\n");
}

TEST_F(PrintedFromZero, numbers_from_one_stay_as_they_are) {
  EXPECT_EQ(kept("Epoch [1/2], Step [1/9], Loss: 3\nEpoch [1/2], Step [2/9], Loss: 2\n"),
            "step 1 loss=3 epoch=1 of=9\nstep 2 loss=2 epoch=1 of=9\n");
  EXPECT_EQ(kept("step 0 loss 3\nstep 1 loss 2\n"), "step 0 loss=3\nstep 1 loss=2\n");
}

}  // namespace printed_from_zero_test
}  // namespace trainscope
