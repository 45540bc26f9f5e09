// Tells signals to the whole process group from those to the supervisor alone: the former reach the
// recorder too, which is in the same group.
//
// On a busy machine one of the two may notice a signal late. Limits: one that reaches both but was
// sent to each alone counts as one to the group, and so does one that comes while the recorder has
// the last one still waiting.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "record/sample/shared.h"

namespace trainscope {

class SignalWitness {
 public:
  // A signal to the whole group reaches the recorder within this time, or was meant for us alone.
  static constexpr int64_t kUsualTime = 30 * kNsPerMs;
  // For so long a busy machine may keep one of us from noticing a signal.
  static constexpr int64_t kLongestStall = kNsPerSecond;

  // Whether a signal that reached us at `arrived_ns` is the one that the recorder saw last.
  bool is_seen(int number, int64_t arrived_ns, int64_t seen_ns);
  // The recorder has not seen this one yet, but will: what it sees next stands for no later one.
  void expect(int number) { is_expected_[number] = true; }

 private:
  int64_t accounted_ns_[kMaxSignals] = {};  // what the recorder saw until then is known
  bool is_expected_[kMaxSignals] = {};
};

}  // namespace trainscope
