// Tells signals to the whole process group from those to the supervisor alone: the former reach the
// recorder too, which is in the same group.
//
// On a busy machine one of the two may notice a signal late. Limits: one that reaches both but was
// sent to each alone counts as one to the group, and so does one to the supervisor alone that
// arrives before the recorder has noticed an earlier one to the group: the kernel keeps one of
// each.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "record/sample/shared.h"

namespace trainscope {

// What the recorder saw of a signal.
struct Sightings {
  int64_t count = 0;
  int64_t last_ns = 0;
};
Sightings sightings_of(const Shared& memory, int number);

class SignalWitness {
 public:
  // A signal to the whole group reaches the recorder within this time, or was meant for us alone.
  static constexpr int64_t kUsualTime = 30 * kNsPerMs;
  // For so long a busy machine may keep one of us from noticing a signal.
  static constexpr int64_t kLongestStall = kNsPerSecond;

  // Whether a signal that reached us at `arrived_ns` is the one that the recorder saw last.
  bool is_seen(int number, int64_t arrived_ns, const Sightings& now);
  // The recorder has seen this one or will see it: its sighting stands for no other.
  void expect(int number, int64_t arrived_ns, const Sightings& now);

 private:
  struct Known {
    int64_t accounted = 0;  // sightings that stand for signals before
    int64_t expected = 0;   // the one that is to come for a signal that is known; 0: none
    int64_t expected_since_ns = 0;
  };
  Known known_[kMaxSignals];
};

}  // namespace trainscope
