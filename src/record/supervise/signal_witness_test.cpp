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

TEST(SignalWitness, a_key_of_the_terminal_stands_for_no_later_signal) {
  SignalWitness witness;
  witness.expect(SIGINT, kStart);
  EXPECT_FALSE(witness.is_seen(SIGINT, kStart + 400 * kMs, kStart + 20 * kMs));
}

}  // namespace signal_witness_test
}  // namespace trainscope
