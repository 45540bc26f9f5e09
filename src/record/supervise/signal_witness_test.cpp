#include "record/supervise/signal_witness.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace trainscope {
namespace signal_witness_test {

constexpr int64_t kMs = kNsPerMs, kStart = 1000 * kNsPerSecond;

TEST(SignalWitness, a_signal_that_the_recorder_did_not_see_is_for_us_alone) {
  SignalWitness witness;
  EXPECT_FALSE(witness.is_seen(SIGTERM, kStart, 0));
  EXPECT_FALSE(witness.is_seen(SIGTERM, kStart, kStart - 2 * kNsPerSecond));
}

TEST(SignalWitness, either_of_us_may_be_late) {
  for (const int64_t late_ns : {-500 * kMs, -10 * kMs, 10 * kMs, 500 * kMs}) {
    SignalWitness witness;
    EXPECT_FALSE(witness.is_seen(SIGTERM, kStart, 0)) << "not yet";
    EXPECT_TRUE(witness.is_seen(SIGTERM, kStart, kStart + late_ns)) << late_ns;
  }
}

TEST(SignalWitness, what_was_seen_stands_for_one_signal) {
  SignalWitness witness;
  EXPECT_TRUE(witness.is_seen(SIGTERM, kStart, kStart + 5 * kMs));
  EXPECT_FALSE(witness.is_seen(SIGTERM, kStart + 200 * kMs, kStart + 5 * kMs));
  EXPECT_TRUE(witness.is_seen(SIGTERM, kStart + 10 * kMs, kStart + 5 * kMs))
      << "two that the recorder took as one";
}

TEST(SignalWitness, what_the_recorder_sees_late_stands_for_no_later_signal) {
  for (const int64_t late_ns : {20 * kMs, 150 * kMs, 5000 * kMs}) {
    SignalWitness witness;
    EXPECT_FALSE(witness.is_seen(SIGINT, kStart, 0));
    witness.expect(SIGINT);  // it came from the terminal, or waits for the recorder
    const int64_t seen_ns = kStart + late_ns;
    EXPECT_FALSE(witness.is_seen(SIGINT, seen_ns + 50 * kMs, seen_ns)) << late_ns;
    EXPECT_FALSE(witness.is_seen(SIGINT, seen_ns + 60 * kMs, seen_ns)) << late_ns;
    EXPECT_TRUE(witness.is_seen(SIGINT, seen_ns + 50 * kMs, seen_ns + 90 * kMs)) << "the next one";
  }
}

TEST(SignalWitness, one_of_two_that_were_expected_is_enough_if_the_recorder_took_them_as_one) {
  SignalWitness witness;
  witness.expect(SIGINT);
  witness.expect(SIGINT);
  EXPECT_FALSE(witness.is_seen(SIGINT, kStart + 300 * kMs, kStart + 100 * kMs));
  EXPECT_TRUE(witness.is_seen(SIGINT, kStart + 400 * kMs, kStart + 440 * kMs));
}

}  // namespace signal_witness_test
}  // namespace trainscope
