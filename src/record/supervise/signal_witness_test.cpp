#include "record/supervise/signal_witness.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace trainscope {
namespace signal_witness_test {

constexpr int64_t kMs = kNsPerMs, kStart = 1000 * kNsPerSecond;
constexpr Sightings kNone;

TEST(SignalWitness, a_signal_that_the_recorder_did_not_see_is_for_us_alone) {
  SignalWitness witness;
  EXPECT_FALSE(witness.is_seen(SIGTERM, kStart, kNone));
  EXPECT_FALSE(witness.is_seen(SIGTERM, kStart, {1, kStart - 2 * kNsPerSecond}));
}

TEST(SignalWitness, either_of_us_may_be_late) {
  for (const int64_t late_ns : {-500 * kMs, -10 * kMs, 10 * kMs, 500 * kMs}) {
    SignalWitness witness;
    EXPECT_FALSE(witness.is_seen(SIGTERM, kStart, kNone)) << "not yet";
    EXPECT_TRUE(witness.is_seen(SIGTERM, kStart, {1, kStart + late_ns})) << late_ns;
  }
}

TEST(SignalWitness, what_was_seen_stands_for_one_signal) {
  SignalWitness witness;
  EXPECT_TRUE(witness.is_seen(SIGTERM, kStart, {1, kStart + 5 * kMs}));
  EXPECT_FALSE(witness.is_seen(SIGTERM, kStart + 200 * kMs, {1, kStart + 5 * kMs}));
  EXPECT_TRUE(witness.is_seen(SIGTERM, kStart + 10 * kMs, {1, kStart + 5 * kMs}))
      << "two that the recorder took as one";
}

TEST(SignalWitness, a_key_of_the_terminal_stands_for_no_later_signal) {
  for (const int64_t seen_ms : {-5, 20, 300}) {
    SignalWitness witness;
    const bool was_seen = seen_ms < 0;
    const Sightings seen{1, kStart + seen_ms * kMs};
    witness.expect(SIGINT, kStart, was_seen ? seen : kNone);
    EXPECT_FALSE(witness.is_seen(SIGINT, kStart + 310 * kMs, seen)) << seen_ms;
  }
}

// It waits for a recorder that is late: whatever time that takes, its sighting stands for it.
TEST(SignalWitness, what_is_expected_stands_for_no_later_signal) {
  SignalWitness witness;
  witness.expect(SIGTERM, kStart, {4, kStart - kNsPerSecond});
  const Sightings late{5, kStart + 190 * kMs};
  EXPECT_FALSE(witness.is_seen(SIGTERM, kStart + 200 * kMs, late)) << "for us alone";
  EXPECT_TRUE(witness.is_seen(SIGTERM, kStart + 200 * kMs, {6, kStart + 202 * kMs}))
      << "now it has";
}

TEST(SignalWitness, a_signal_that_came_before_the_expected_one_was_taken_is_taken_with_it) {
  SignalWitness witness;
  witness.expect(SIGTERM, kStart, kNone);
  EXPECT_TRUE(witness.is_seen(SIGTERM, kStart + 100 * kMs, {1, kStart + 190 * kMs}));
}

TEST(SignalWitness, a_recorder_that_died_before_it_saw_a_signal_is_not_waited_for) {
  SignalWitness witness;
  witness.expect(SIGTERM, kStart, kNone);
  const int64_t later_ns = kStart + 5 * kNsPerSecond;
  EXPECT_TRUE(witness.is_seen(SIGTERM, later_ns, {1, later_ns - kMs}));
}

}  // namespace signal_witness_test
}  // namespace trainscope
