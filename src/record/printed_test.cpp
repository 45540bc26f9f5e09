#include "record/printed.h"

#include <gtest/gtest.h>

#include "record/record.h"

namespace trainscope {
namespace {

class PrintedTest : public testing::Test {
 protected:
  PrintedTest() : memory_(*SharedMemory::create(1 << 20)), ring_(memory_) {}
  ~PrintedTest() override { memory_.unmap(); }

  // The lines that are kept of this output, without time and source.
  std::string kept(const std::string& output, const std::string& pattern = "") {
    PrintedSteps printed(sink_, pattern);
    // In pieces, as a pipe may give it.
    for (size_t i = 0; i < output.size(); i += 7) printed.take(output.substr(i, 7), 0);
    std::string lines;
    ring_.visit(ring_.tail(), [&](const RecordHeader& header) {
      std::string_view text = reinterpret_cast<const TextRecord&>(header).text();
      text.remove_prefix(text.find('\n') + 1);
      while (header.kind == RecordKind::step && !text.empty()) {
        const size_t end = text.find('\n');
        lines += text.substr(9, end - 8);  // "0 output "
        text.remove_prefix(end + 1);
      }
      return true;
    });
    ring_.release(ring_.head());
    return lines;
  }

  SharedMemory memory_;
  Ring ring_;
  ProgressSink sink_{ring_, memory_};
};

TEST_F(PrintedTest, EveryFormatUnderstandsItsExample) {
  for (const PrintedFormat& format : printed_formats()) {
    if (format.name == "keras epoch") continue;
    EXPECT_NE(kept(std::string(format.example) + "\n"), "") << format.name;
  }
}

TEST_F(PrintedTest, KerasWithABarThatIsDrawnOver) {
  EXPECT_EQ(kept("Epoch 1/2\n"
                 "\r\x1b[1m1/2\x1b[0m \x1b[37m━━━\x1b[0m \x1b[1m1s\x1b[0m 100ms/step - loss: 0.5"
                 "\b\b\b\b\b"
                 "\r\x1b[1m2/2\x1b[0m ━━━ \x1b[1m0s\x1b[0m 90ms/step - accuracy: 0.8 - loss: 0.4 - "
                 "val_accuracy: 0.7\n"
                 "Epoch 2/2\n2/2 - 0s - 90ms/step - loss: 0.3\n"),
            "step 1 loss=0.5 epoch=1 of=2\n"
            "epoch 1 accuracy=0.8 loss=0.4 val_accuracy=0.7\n"
            "step 2 accuracy=0.8 loss=0.4 epoch=1 of=2\n"
            "epoch 2 loss=0.3\n"
            "step 2 loss=0.3 epoch=2 of=2\n");
}

TEST_F(PrintedTest, LinesOfOldTensorFlow) {
  EXPECT_EQ(kept("INFO:tensorflow:loss = 2.5, step = 100 (0.345 sec)\n"), "step 100 loss=2.5\n");
  EXPECT_EQ(kept("INFO:tensorflow:global step 100: loss = 2.5 (0.25 sec/step)\n"),
            "step 100 loss=2.5 duration=0.25\n");
  EXPECT_EQ(kept("2017: Step 10: Train accuracy = 75.0%\n2017: Step 10: Cross entropy = 1.5\n"
                 "2017: Step 10: Validation accuracy = 50.0% (N=100)\n"),
            "step 10 accuracy=0.75\nstep 10 loss=1.5\nstep 10 accuracy=0.5 set=validation\n");
  EXPECT_EQ(kept("10\timages/sec: 128.5 +/- 0.5 (jitter = 1.2)\t7.5\n"),
            "step 10 loss=7.5 throughput=128.5\n");
}

TEST_F(PrintedTest, OtherLinesAreNoSteps) {
  EXPECT_EQ(kept("Step into 3/4 time\nloss of signal at step 5\n3/4 done\n2026-11-15 12:00\n"), "");
}

TEST_F(PrintedTest, APatternOfTheUsersTakesTheirPlace) {
  const std::string pattern = R"(it (?<step>\d+) loss (?<loss>[\d.]+))";
  EXPECT_TRUE(check_steps_pattern(pattern));
  EXPECT_EQ(kept("it 5 loss 0.5\nINFO:tensorflow:loss = 2.5, step = 100 (1 sec)\n", pattern),
            "step 5 loss=0.5\n");
}

TEST_F(PrintedTest, APatternThatCannotBeUsedIsRefused) {
  EXPECT_FALSE(check_steps_pattern("(?<step>"));
  const Status nameless = check_steps_pattern("step \\d+");
  ASSERT_FALSE(nameless);
  EXPECT_NE(nameless.error().message().find("(?<step>"), std::string::npos);
}

TEST_F(PrintedTest, APatternThatBacktracksForEverEndsSoon) {
  EXPECT_EQ(kept(std::string(3000, '1') + "!\n", R"((?<step>(1+)+)x)"), "");
}

TEST_F(PrintedTest, ManyLinesASecondAreNotAllLookedAt) {
  PrintedSteps printed(sink_, "");
  std::string lines;
  for (int i = 0; i < 5000; ++i) lines += "line " + std::to_string(i) + "\n";
  printed.take(lines, 0);
  EXPECT_EQ(printed.lines_not_looked_at(), 3000);
}

}  // namespace
}  // namespace trainscope
