#include "record/intake/printed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "base/text.h"
#include "record/record.h"
#include "record/sample/test_ring.h"
#include "testing/listed_reports.h"

namespace trainscope {
namespace printed_test {

class PrintedTest : public testing::Test {
 protected:
  PrintedTest() : memory_(*SharedMemory::create(1 << 20)), ring_(memory_) {}
  ~PrintedTest() override { memory_.unmap(); }

  // The stored lines of this output, without time and source.
  std::string kept(const std::string& output, const std::string& pattern = "") {
    PrintedSteps printed(sink_, pattern, unlimited_);
    // In pieces, as a pipe may give it.
    for (size_t i = 0; i < output.size(); i += 7) {
      printed.take(output.substr(i, 7), static_cast<int64_t>(i) * 1'000'000);
    }
    printed.finish();
    counts_ = printed.take_counts();
    std::string lines;
    const std::string stored = take_reports(ring_);
    for (const std::string_view line : split(stored, '\n')) {
      if (!line.empty()) lines += std::string(line.substr(line.find("output ") + 7)) + "\n";
    }
    return lines;
  }

  SharedMemory memory_;
  Ring ring_;
  ProgressSink sink_{ring_, memory_};
  MatchingBudget unlimited_{0, [] { return int64_t{0}; }};
  PrintedSteps::Counts counts_;  // of the last call of kept()
};

TEST_F(PrintedTest, every_format_understands_its_example) {
  for (const PrintedFormat& format : printed_formats()) {
    if (format.kind == PrintedFormat::Kind::epoch_begins) continue;
    EXPECT_NE(kept(std::string(format.example) + "\n"), "") << format.name;
  }
}

TEST_F(PrintedTest, the_guide_lists_every_format) {
  std::ifstream file(std::string(TRAINSCOPE_TEST_DATA) + "/../../docs/guide/progress.md");
  const std::string guide((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const PrintedFormat& format : printed_formats()) {
    EXPECT_NE(guide.find("| " + std::string(format.name) + " |"), std::string::npos) << format.name;
  }
}

// Output of real programs, and its values according to a reader without patterns.
TEST_F(PrintedTest, what_programs_really_print) {
  const std::string folder = std::string(TRAINSCOPE_TEST_DATA) + "/printed/";
  const auto expected = Json::parse(std::ifstream(folder + "expected.json"));
  ASSERT_GT(expected.size(), 60U);
  for (const auto& [name, told] : expected.items()) {
    if (name == "keras_v2_evaluate_pipe.txt") continue;  // the evaluation's line comes first
    std::ifstream file(folder + name, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    ASSERT_FALSE(text.empty()) << name;
    std::vector<StoredReport> reports;
    const std::string lines = kept(text);
    for (const std::string_view line : split(lines, '\n')) {
      if (auto report = parse_report(line)) reports.push_back({0, "output", std::move(*report)});
    }
    const ListedTraining training = read_listed(std::move(reports), 1);
    const std::optional<int64_t> count =
        told["count"].is_null() ? std::nullopt : std::optional(told["count"].get<int64_t>());
    EXPECT_EQ(training.count, count) << name;
    EXPECT_EQ(training.steps.size(), told["observed"].get<size_t>()) << name;
    const Json last = told["reports"].empty() ? Json::object() : told["reports"].back();
    const bool next_line = name == "object_detection.txt";  // a separate line reports the loss
    if (!training.steps.empty() && last.contains("loss") && !next_line) {
      EXPECT_NEAR(training.steps.back().loss.value_or(-1), last["loss"].get<double>(), 1e-6)
          << name;
    }
    if (told.contains("epochs")) {
      EXPECT_EQ(training.epochs.size(), told["epochs"].size()) << name;
    }
  }
}

TEST_F(PrintedTest, keras_with_a_bar_that_is_drawn_over) {
  EXPECT_EQ(kept("Epoch 1/2\n"
                 "\r\x1b[1m1/2\x1b[0m \x1b[37m━━━\x1b[0m \x1b[1m1s\x1b[0m 100ms/step - loss: 0.5"
                 "\b\b\b\b\b"
                 "\r\x1b[1m2/2\x1b[0m ━━━ \x1b[1m0s\x1b[0m 90ms/step - accuracy: 0.8 - loss: 0.4 - "
                 "val_accuracy: 0.7\n"
                 "Epoch 2/2\n2/2 - 0s - 90ms/step - loss: 0.3\n"
                 "313/313 - 1s - 3ms/step - loss: 9.9\n"),
            "step 1 loss=0.5 epoch=1 of=2\n"
            "epoch 1 loss=0.4 accuracy=0.8 val_accuracy=0.7\n"
            "step 2 loss=0.4 accuracy=0.8 epoch=1 of=2\n"
            "epoch 2 loss=0.3\n"
            "step 2 loss=0.3 epoch=2 of=2\n");
}

TEST_F(PrintedTest, the_loss_of_an_evaluation_is_not_that_of_the_training) {
  EXPECT_EQ(kept("step 900 loss 0.5\neval step 938 accuracy 0.87 loss 0.35\nstep 1000 loss 0.4\n"),
            "step 900 loss=0.5\n"
            "scalar loss 0.35 set=test\nscalar accuracy 0.87 set=test\nstep 938\n"
            "step 1000 loss=0.4\n");
  // For other formats the step may be the evaluation's own.
  for (const char* line : {"Validation at iteration 950: loss 0.25", "val step 3/50 loss 0.25",
                           "[eval] step 3 loss 0.25", "INFO:root:eval step 3: loss=0.25",
                           "Eval | step 3 | loss 0.25"}) {
    EXPECT_EQ(kept(std::string(line) + "\n"), "scalar loss 0.25 set=validation\n") << line;
  }
}

TEST_F(PrintedTest, a_test_is_a_test) {
  for (const char* line : {"Test iter 950, loss 0.25, acc 0.5", "[test] step 3: loss 0.25 acc 0.5",
                           "INFO:root:test at global step 3: loss=0.25, accuracy=0.5"}) {
    EXPECT_EQ(kept(std::string(line) + "\n"),
              "scalar loss 0.25 set=test\nscalar accuracy 0.5 set=test\n")
        << line;
  }
}

TEST_F(PrintedTest, a_loss_with_a_capital_letter) {
  EXPECT_EQ(kept("Epoch [1/5], Step [100/600], Loss: 0.25\n"),
            "step 100 loss=0.25 epoch=1 of=600\n");
  EXPECT_EQ(kept("Epoch 1/5, Batch 3/600, Loss: 0.5, Accuracy: 87.5%\n"),
            "step 3 loss=0.5 accuracy=0.875 epoch=1 of=600\n");
  EXPECT_EQ(kept("Step 3/100, Loss: 0.5\n"), "step 3 loss=0.5 of=100\n");
}

TEST_F(PrintedTest, an_accuracy_in_percent_is_a_ratio) {
  EXPECT_EQ(kept("iter 3 loss 0.5 acc 40.00%\n"), "step 3 loss=0.5 accuracy=0.4\n");
  EXPECT_EQ(kept("iter 3 loss 0.5 acc 0.4, 12 % of the time\n"), "step 3 loss=0.5 accuracy=0.4\n");
  EXPECT_EQ(kept("[eval] step 950: loss 0.25, acc 40 %\n"),
            "scalar loss 0.25 set=validation\nscalar accuracy 0.4 set=validation\n");
  for (const char* pattern :
       {R"(at (?<step>\d+): (?<accuracy>[\d.]+))", R"(at (?<step>\d+): (?<accuracy>\S+))"}) {
    EXPECT_EQ(kept("at 3: 40.00% right\n", pattern), "step 3 accuracy=0.4\n") << pattern;
  }
}

TEST_F(PrintedTest, an_index_that_begins_at_0_is_a_step_later) {
  EXPECT_EQ(
      kept("Train: 0 [   0/23 (  4%)]  Loss: 6.5 (6.5)  Time: 0.421s, 2432.5/s  (0.4s, 2400.0/s)"
           "  LR: 0.5  Data: 0.010 (0.012)\n"),
      "step 1 loss=6.5 lr=0.5 throughput=2432.5 epoch=0 of=23\n");
  EXPECT_EQ(kept("Epoch: [1]  [22/23]  eta: 0:00:00  lr: 0.5  img/s: 300.5  loss: 1.5 (2.0)  "
                 "acc1: 12.5 (12.0)  acc5: 20.0 (20.0)  time: 0.4210  data: 0.0100\n"),
            "epoch 1 loss=1.5 accuracy=0.125 lr=0.5\n"
            "step 23 loss=1.5 accuracy=0.125 lr=0.5 throughput=300.5 epoch=1 of=23\n");
}

TEST_F(PrintedTest, items_of_the_dataset_are_not_steps) {
  EXPECT_EQ(kept("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.25\n"
                 "Test set: Average loss: 0.5, Accuracy: 9875/10000 (99%)\n"),
            "step loss=2.25 item=640 items=60000 epoch=1\n"
            "scalar loss 0.5 set=test\nscalar accuracy 0.9875 set=test\n");
}

TEST_F(PrintedTest, json_needs_an_integer_step_of_the_object_itself) {
  EXPECT_EQ(kept(R"({"loss": 0.5, "x": [1, 2], "y": {"z": 1}, "global_step": 7, "val_loss": 0.25})"
                 "\n"),
            "scalar loss 0.25 set=validation\nstep 7 loss=0.5\n");
  EXPECT_EQ(kept("{'iteration': 3, 'note': \"it's\", 'loss': 0.5}\n"), "step 3 loss=0.5\n");
  for (const char* line :
       {R"({"step": 3.5, "loss": 0.5})", R"({"step": "3", "loss": 0.5})", R"({"steps": 3})",
        R"({"config": {"step": 3}, "loss": 0.5})", R"({"text": "\"step\": 3, ", "loss": 0.5})",
        R"({"step": 3, "split": "val", "loss": 0.5})", R"(["step", 3])"}) {
    EXPECT_EQ(kept(std::string(line) + "\n"), "") << line;
  }
}

TEST_F(PrintedTest, a_booster_that_repeats_its_best_round) {
  const std::string rounds =
      "[1]\tvalid_0's l2: 0.5\n[2]\tvalid_0's l2: 0.4\n[3]\tvalid_0's l2: 0.45\n";
  const std::string best = "Early stopping, best iteration is:\n[2]\tvalid_0's l2: 0.4\n";
  EXPECT_EQ(kept(rounds + best), "step 1\nstep 2\nstep 3\n");
  EXPECT_EQ(kept(rounds + best + "[1]\tvalid_0's l2: 0.5\n"), "step 1\nstep 2\nstep 3\nstep 1\n");
  EXPECT_EQ(kept("[0]\ttrain-rmse:0.5\teval-rmse:0.6\n[1]\ttrain-rmse:0.4+0.1\n"),
            "step 0\nstep 1\n");
}

TEST_F(PrintedTest, a_bar_of_ultralytics_among_other_bars) {
  EXPECT_EQ(
      kept("train: Scanning labels... 4 images: 100%|████| 23/23 [00:00<?, ?it/s]\n"
           "\r\x1b[K        1/2         0G       1.17  …\x1b[0m: 13% ━╸────────── 3/23 8.7it/s\n"
           "     Class     Images      mAP50  mAP50-95): 100%|████| 23/23 [00:01<00:00,  "
           "3.9it/s]\n"),
      "step 3 epoch=1 of=23\n");
}

TEST_F(PrintedTest, a_longer_bar_of_an_evaluation_is_not_counted_in_the_second_announced_epoch) {
  const std::string bars =
      "100%|████| 2/2 [00:02<00:00,  1.00s/it]\n"
      " 25%|█   | 1/4 [00:01<00:03,  1.00s/it]\r100%|████| 4/4 [00:04<00:00,  1.00s/it]\n";
  EXPECT_EQ(kept("Epoch 1/2\n" + bars + "Epoch 2/2\n" + bars),
            "epoch 1\nstep 2 epoch=1 of=2\nstep 1 epoch=1 of=4\nepoch 1\nstep 4 epoch=1 of=4\n"
            "epoch 2\nstep 2 epoch=2 of=2\n");
}

TEST_F(PrintedTest, the_epochs_of_fairseq_and_mmengine) {
  EXPECT_EQ(
      kept("2022 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 8.5 | ppl 415.87\n"
           "2022 | INFO | train | epoch 001 | loss 9.5 | nll_loss 9.1\n"
           "2022 | INFO | train_inner | epoch 002:      7 / 23 loss=7.5, lr=0.5\n"),
      "epoch 1 val_loss=8.5\nepoch 1 loss=9.5\nstep 7 loss=7.5 lr=0.5 epoch=2 of=23\n");
  EXPECT_EQ(kept("11/16 - INFO - Epoch(val) [1][10/10]    accuracy/top1: 75.0000  time: 0.1\n"
                 "11/16 - INFO - Iter(train) [  10/1000]  lr: 5.0000e-01  time: 0.5  loss: 0.25\n"),
            "scalar accuracy 0.75 set=validation\nstep 10 loss=0.25 lr=0.5 of=1000\n");
}

// JSON as programs log it, 4 KiB long and with words that formats search for.
std::string long_json_line() {
  std::string line = R"({"global_step": 1200, "epoch": 3)";
  for (int i = 0; line.size() < 4000; ++i) {
    line += R"(, "layer/loss": 0.1, "train step )" + std::to_string(i) +
            R"(": [1.5, 2.25], "path": "/data/a|b")";
  }
  return line + "}";
}

TEST_F(PrintedTest, no_search_of_a_long_line_is_given_up) {
  std::string spaces = "Epoch 3: 5|" + std::string(3900, ' ') + "<";
  for (const std::string& line :
       {long_json_line(), spaces, "step 1 <|" + std::string(3000, ':') + " loss",
        "[" + long_json_line() + "]<|"}) {
    kept(line + "\n");
    EXPECT_EQ(counts_.costly, 0) << line.substr(0, 80);
  }
}

TEST_F(PrintedTest, the_last_word_of_a_line_that_is_cut_is_no_number) {
  const std::string pattern = R"(step (?<step>\d+)( loss (?<loss>[\d.]+))?)";
  EXPECT_EQ(kept(std::string(4089, 'x') + " step 1234\n", pattern), "");
  EXPECT_EQ(counts_.cut, 1);
  EXPECT_EQ(kept(std::string(4080, 'x') + " step 7 loss 0.5678\n", pattern), "step 7\n");
}

TEST_F(PrintedTest, a_line_of_the_other_stream_that_has_no_end_yet) {
  PrintedSteps printed(sink_, "", unlimited_);
  printed.take("\rloading 1", 0);
  printed.take("global step 7: loss = 0.5 (0.25 sec/step)\n", 0);
  printed.take("global step 8: loss = 0.5 (0.25 sec/step)", 0);
  printed.finish();
  EXPECT_EQ(memory_->next_report, 2);
}

TEST_F(PrintedTest, lines_of_old_tensor_flow) {
  EXPECT_EQ(kept("INFO:tensorflow:loss = 2.5, step = 100 (0.345 sec)\n"), "step 100 loss=2.5\n");
  EXPECT_EQ(kept("INFO:tensorflow:global step 100: loss = 2.5 (0.25 sec/step)\n"),
            "step 100 loss=2.5 duration=0.25\n");
  EXPECT_EQ(
      kept("2017: Step 10: Train accuracy = 75.0%\n2017: Step 10: Cross entropy = 1.5\n"
           "2017: Step 10: Validation accuracy = 50.0% (N=100)\n"),
      "step 10 accuracy=0.75\nstep 10 loss=1.5\nscalar accuracy 0.5 set=validation\nstep 10\n");
  EXPECT_EQ(kept("10\timages/sec: 128.5 +/- 0.5 (jitter = 1.2)\t7.5\n"),
            "step 10 loss=7.5 throughput=128.5\n");
}

TEST_F(PrintedTest, other_lines_are_no_steps) {
  EXPECT_EQ(kept("Step into 3/4 time\nloss of signal at step 5\n3/4 done\n2026-11-15 12:00\n"), "");
  for (const char* line :
       {"[ 50/1251]", "Downloading [ 50/1251]", "[50/1251] Building CXX object foo-bar.o",
        "[12:30:45] WARNING: foo-bar:1", "[5] kworker-x:5 waits", "Epoch 2 step 5 done",
        "Epoch: [0] [50/1251] files copied", "Train: 0 examples of 5", "steps: 10 of the recipe",
        "Test:  [ 0/10]  eta: 0:00:02  loss: 6.5 (6.5)  acc1: 12.5 (12.5)"}) {
    EXPECT_EQ(kept(std::string(line) + "\n"), "") << line;
  }
}

TEST_F(PrintedTest, a_pattern_of_the_users_takes_their_place) {
  const std::string pattern = R"(it (?<step>\d+) loss (?<loss>[\d.]+))";
  EXPECT_TRUE(check_steps_pattern(pattern));
  EXPECT_EQ(kept("it 5 loss 0.5\nINFO:tensorflow:loss = 2.5, step = 100 (1 sec)\n", pattern),
            "step 5 loss=0.5\n");
}

TEST_F(PrintedTest, a_pattern_of_epochs_gives_epochs_and_one_of_steps_only_numbers) {
  EXPECT_EQ(kept("Epoch 3 loss 0.5\n", R"(Epoch (?<epoch>\d+) loss (?<loss>\S+))"),
            "epoch 3 loss=0.5\n");
  EXPECT_EQ(kept("step function 9\nstep 5\n", R"(step (?<step>\S+))"), "step 5\n");
}

TEST_F(PrintedTest, a_pattern_that_cannot_be_used_is_refused) {
  EXPECT_FALSE(check_steps_pattern("(?<step>"));
  const Status nameless = check_steps_pattern("step \\d+");
  ASSERT_FALSE(nameless);
  EXPECT_NE(nameless.error().message().find("(?<step>"), std::string::npos);
}

TEST_F(PrintedTest, a_pattern_that_backtracks_for_ever_is_stopped_and_counted) {
  EXPECT_EQ(kept(std::string(3000, '1') + "!\n", R"((?<step>(1+)+)[xy])"), "");
  EXPECT_EQ(counts_.costly, 1);
  memory_->costly_lines = counts_.costly;
  const auto notes = progress_notes(*memory_, true);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("took too long"), std::string::npos) << notes[0];
}

TEST_F(PrintedTest, a_pattern_that_matches_nothing_is_noted) {
  EXPECT_THAT(progress_notes(*memory_, true),
              testing::ElementsAre("--steps-from matched none of the printed lines"));
  EXPECT_THAT(progress_notes(*memory_, false), testing::IsEmpty());
}

// Each call takes a millisecond of CPU time.
int64_t slow_clock() {
  static int64_t now_ns = 0;
  return now_ns += 1'000'000;
}

std::string numbered_lines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += "step " + std::to_string(i) + " loss 1\n";
  return lines;
}

TEST_F(PrintedTest, lines_beyond_the_budget_of_cpu_time_are_counted) {
  MatchingBudget budget(0, slow_clock);
  PrintedSteps printed(sink_, "", budget);
  // 100 ms of ten seconds, one for 16 lines.
  printed.take(numbered_lines(5000), 0);
  PrintedSteps::Counts counts = printed.take_counts();
  EXPECT_EQ(counts.matched, 1600);
  EXPECT_EQ(counts.skipped, 3400);
  // A debt of so much again at most; a minute pays for both.
  printed.take(numbered_lines(5000), 60 * int64_t{1'000'000'000});
  counts = printed.take_counts();
  EXPECT_EQ(counts.matched, 1600);
}

TEST_F(PrintedTest, a_pattern_of_the_users_has_a_thousand_lines_a_second) {
  MatchingBudget budget(PrintedSteps::kFloorOfOwnPattern, slow_clock);
  PrintedSteps printed(sink_, R"(step (?<step>\d+))", budget);
  printed.take(numbered_lines(5000), 0);
  EXPECT_EQ(printed.take_counts().matched, 1600);
  printed.take(numbered_lines(5000), 1'000'000'000);
  EXPECT_EQ(printed.take_counts().matched, 1000);
}

TEST_F(PrintedTest, another_recorder_goes_on_in_the_middle_of_a_line) {
  SharedLine& kept = memory_->lines[1];
  {
    PrintedSteps printed(sink_, "", unlimited_, &kept);
    printed.take("Epoch 3/5\n 1/2 [==>...] - ETA: 1s - loss: 0.5\r 2/2 [====", 1000);
  }
  PrintedSteps printed(sink_, "", unlimited_, &kept);
  printed.take("==] - 1s 20ms/step - loss: 0.25\n", 2000);
  const std::string stored = take_reports(ring_);
  EXPECT_NE(stored.find("2000 output epoch 3"), std::string::npos) << stored;
  EXPECT_NE(stored.find("step 2 loss=0.25"), std::string::npos) << stored;
}

// The output of one stream, of which a second recorder gets the rest.
std::string kept_by_two(ProgressSink& sink, Ring& ring, MatchingBudget& budget, SharedLine& kept,
                        const std::string& before, const std::string& after) {
  PrintedSteps(sink, "", budget, &kept).take(before, 1000);
  PrintedSteps(sink, "", budget, &kept).take(after, 2000);
  return take_reports(ring);
}

TEST_F(PrintedTest, another_recorder_knows_the_rounds_of_a_booster) {
  const std::string stored = kept_by_two(
      sink_, ring_, unlimited_, memory_->lines[0],
      "[1]\tvalid_0's l2: 0.5\n[2]\tvalid_0's l2: 0.4\n",
      "Early stopping, best iteration is:\n[2]\tvalid_0's l2: 0.4\n[3]\tvalid_0's l2: 0.3\n");
  EXPECT_EQ(stored, "1000 output step 1\n1000 output step 2\n2000 output step 3\n");
}

TEST_F(PrintedTest, another_recorder_has_the_numbers_of_the_next_step) {
  const std::string stored =
      kept_by_two(sink_, ring_, unlimited_, memory_->lines[0],
                  " 10%|█         | 1/10 [00:01<00:09,  1.00s/it]\n{'loss': 0.5, 'epoch': 0.1}\n",
                  " 20%|██        | 2/10 [00:02<00:08,  1.00s/it]\n");
  EXPECT_EQ(stored, "1000 output step 1 of=10\n2000 output step 2 loss=0.5 of=10\n");
}

TEST_F(PrintedTest, another_recorder_knows_the_bar_of_epochs) {
  const std::string stored = kept_by_two(sink_, ring_, unlimited_, memory_->lines[0],
                                         "  0%|    | 0/9 [00:00<?, ?it/s]\n"
                                         " 50%|██  | 1/2 [00:01<00:01,  1.00s/it]\r"
                                         "100%|████| 2/2 [00:02<00:00,  1.00s/it]\n",
                                         " 11%|▌   | 1/9 [00:02<00:16,  2.00s/it]\n"
                                         " 50%|██  | 1/2 [00:01<00:01,  1.00s/it]\r");
  EXPECT_EQ(stored,
            "1000 output step 0 of=9\n1000 output step 1 of=2\n1000 output step 2 of=2\n"
            "2000 output step 1 of=2\n");
}

}  // namespace printed_test
}  // namespace trainscope
