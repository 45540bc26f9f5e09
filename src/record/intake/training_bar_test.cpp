#include "record/intake/training_bar.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace training_bar_test {

// How many frames are those of the training when a bar goes through all its steps, 0 included.
int run_through(TrainingBar& bar, int of) {
  int accepted = 0;
  for (int step = 0; step <= of; ++step) accepted += bar.accepts(step, of) ? 1 : 0;
  return accepted;
}

class Nested : public testing::TestWithParam<std::pair<int, int>> {};

// for epoch in trange(EPOCHS): for batch in tqdm(STEPS)
TEST_P(Nested, the_bar_within_a_bar_of_epochs_is_the_training) {
  const auto [epochs, steps] = GetParam();
  TrainingBar bar;
  bar.accepts(0, epochs);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    EXPECT_EQ(run_through(bar, steps), steps + 1) << "epoch " << epoch;
    EXPECT_FALSE(bar.accepts(epoch, epochs)) << "epoch " << epoch;
  }
}
INSTANTIATE_TEST_SUITE_P(Lengths, Nested,
                         testing::Values(std::pair(10, 100), std::pair(100, 10), std::pair(3, 2)));

TEST(TrainingBar, an_evaluation_between_two_steps_is_not_the_training) {
  for (const int evaluation : {7, 500}) {
    TrainingBar bar;
    for (int step = 0; step <= 50; ++step) EXPECT_TRUE(bar.accepts(step, 100));
    EXPECT_EQ(run_through(bar, evaluation), 0);
    EXPECT_TRUE(bar.accepts(51, 100));
  }
}

TEST(TrainingBar, an_evaluation_between_two_epochs_is_not_the_training) {
  TrainingBar bar;
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(run_through(bar, 100), 101);
    EXPECT_EQ(run_through(bar, 20), 0);
  }
}

// Only the first one cannot be distinguished from preprocessing before it.
TEST(TrainingBar, a_longer_evaluation_is_rejected_once_the_training_is_shown_again) {
  TrainingBar bar;
  run_through(bar, 100);
  run_through(bar, 500);
  for (int epoch = 1; epoch < 3; ++epoch) {
    EXPECT_EQ(run_through(bar, 100), 101);
    EXPECT_EQ(run_through(bar, 500), 0);
  }
}

TEST(TrainingBar, a_longer_evaluation_is_rejected_in_every_announced_epoch_but_the_first) {
  TrainingBar bar;
  for (int epoch = 1; epoch <= 4; ++epoch) {
    bar.begin_epoch();
    EXPECT_EQ(run_through(bar, 100), 101) << "epoch " << epoch;
    EXPECT_EQ(run_through(bar, 500), epoch == 1 ? 501 : 0) << "epoch " << epoch;
  }
}

TEST(TrainingBar, a_training_after_preprocessing_in_the_first_announced_epoch_is_the_training) {
  TrainingBar bar;
  bar.begin_epoch();
  run_through(bar, 50);
  run_through(bar, 1000);
  for (int epoch = 2; epoch <= 3; ++epoch) {
    bar.begin_epoch();
    EXPECT_EQ(run_through(bar, 1000), 1001) << "epoch " << epoch;
  }
}

TEST(TrainingBar, a_training_after_preprocessing_is_the_training) {
  TrainingBar bar;
  run_through(bar, 50);
  EXPECT_EQ(run_through(bar, 1000), 1001);
}

TEST(TrainingBar, a_training_that_begins_with_an_evaluation_takes_over_again) {
  TrainingBar bar;
  bar.accepts(0, 1000);
  run_through(bar, 7);
  EXPECT_FALSE(bar.accepts(1, 1000));
  for (int step = 2; step <= 1000; ++step) ASSERT_TRUE(bar.accepts(step, 1000)) << step;
  EXPECT_EQ(run_through(bar, 7), 0);
}

TEST(TrainingBar, a_complete_bar_without_another_announcement_is_an_evaluation) {
  TrainingBar bar;
  EXPECT_TRUE(bar.accepts_announced(1, 2));
  EXPECT_TRUE(bar.accepts_announced(2, 2));
  EXPECT_TRUE(bar.accepts_announced(2, 2)) << "drawn again";
  EXPECT_FALSE(bar.accepts_announced(1, 2));
  EXPECT_FALSE(bar.accepts_announced(1, 313));
}

}  // namespace training_bar_test
}  // namespace trainscope
