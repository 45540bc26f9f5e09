// Numbers as loops print them: from 0, as enumerate() counts, with commas between thousands, and
// with an accuracy after the loss.
#include <gtest/gtest.h>

#include "base/text.h"
#include "record/intake/printed.h"
#include "record/sample/test_ring.h"

namespace trainscope {
namespace printed_numbers_test {

class PrintedNumbers : public testing::Test {
 protected:
  ~PrintedNumbers() override { memory_.unmap(); }

  // The stored lines of this output, without time and source.
  std::string kept(const std::string& output, const std::string& own_pattern = "") {
    MatchingBudget unlimited{0, [] { return int64_t{0}; }};
    PrintedSteps printed(sink_, own_pattern, unlimited, &line_);
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

TEST_F(PrintedNumbers, from_zero_each_line_is_a_step) {
  EXPECT_EQ(kept("Step 0/3, Loss: 3\nStep 1/3, Loss: 2\nStep 2/3, Loss: 1\n"),
            "step 1 loss=3 of=3\nstep 2 loss=2 of=3\nstep 3 loss=1 of=3\n");
}

TEST_F(PrintedNumbers, from_zero_in_each_epoch_and_for_a_recorder_that_was_restarted_as_well) {
  EXPECT_EQ(kept("Epoch: [0][ 0/20]\tLoss 7.0 (7.0)\nEpoch: [0][10/20]\tLoss 6.5 (6.9)\n"),
            "step 1 loss=7 epoch=0 of=20\nstep 11 loss=6.5 epoch=0 of=20\n");
  EXPECT_EQ(kept("Epoch: [1][10/20]\tLoss 6.0 (6.0)\n"), "step 11 loss=6 epoch=1 of=20\n");
}

TEST_F(PrintedNumbers, from_zero_to_the_total_are_steps_that_are_done) {
  EXPECT_EQ(kept("Step 0/200, Loss: 3\nStep 100/200, Loss: 2\nStep 200/200, Loss: 1\n"),
            "step 1 loss=3 of=200\nstep 101 loss=2 of=200\nstep 200 loss=1 of=200\n");
}

TEST_F(PrintedNumbers, numbers_from_one_stay_as_they_are) {
  EXPECT_EQ(kept("Epoch [1/2], Step [1/9], Loss: 3\nEpoch [1/2], Step [2/9], Loss: 2\n"),
            "step 1 loss=3 epoch=1 of=9\nstep 2 loss=2 epoch=1 of=9\n");
  EXPECT_EQ(kept("step 0 loss 3\nstep 1 loss 2\n"), "step 0 loss=3\nstep 1 loss=2\n");
}

TEST_F(PrintedNumbers, commas_between_thousands) {
  EXPECT_EQ(kept("step 999 loss 3\nstep 1,000 loss 2\nstep 12,345,678/20,000,000 loss 1\n"),
            "step 999 loss=3\nstep 1000 loss=2\nstep 12345678 loss=1 of=20000000\n");
  EXPECT_EQ(kept("Epoch [1/2], Step [1,000/9,000], Loss: 3\n"),
            "step 1000 loss=3 epoch=1 of=9000\n");
}

// 0,537 is not 537.
TEST_F(PrintedNumbers, a_comma_before_decimals_leaves_a_value_unknown) {
  EXPECT_EQ(kept("at 1,024: 0,537\n", R"(at (?<step>[\d,]+): (?<loss>[\d.,]+))"), "step 1024\n");
}

TEST_F(PrintedNumbers, an_accuracy_after_the_loss) {
  EXPECT_EQ(kept("step 3 loss 0.5 accuracy 0.9\n"), "step 3 loss=0.5 accuracy=0.9\n");
  EXPECT_EQ(kept("step 4 loss 0.5, acc: 90%\n"), "step 4 loss=0.5 accuracy=0.9\n");
  EXPECT_EQ(kept("step 5 loss 0.5 images/s 64\n"), "step 5 loss=0.5 throughput=64\n");
}

TEST_F(PrintedNumbers, those_of_a_held_out_set_are_not_of_the_training) {
  EXPECT_EQ(kept("step 3: train loss 2, val loss 3\n"),
            "scalar loss 3 set=validation\nstep 3 loss=2\n");
  EXPECT_EQ(kept("step 4: val loss 3, loss 2\n"), "scalar loss 3 set=validation\nstep 4 loss=2\n");
  EXPECT_EQ(kept("step 5 loss 0.5, test acc: 90%\n"),
            "scalar accuracy 0.9 set=test\nstep 5 loss=0.5\n");
  EXPECT_EQ(kept("Epoch 1, Step 6, Loss: 2, Acc: 0.5, Val Loss: 3, Val Acc: 0.4\n"),
            "scalar loss 3 set=validation\nscalar accuracy 0.4 set=validation\n"
            "step 6 loss=2 accuracy=0.5 epoch=1\n");
  EXPECT_EQ(kept("step 7 val loss 3\n"), "scalar loss 3 set=validation\nstep 7\n");
  EXPECT_EQ(kept("iter 8: train_loss 2 test_loss 3\n"), "scalar loss 3 set=test\nstep 8 loss=2\n");
}

}  // namespace printed_numbers_test
}  // namespace trainscope
