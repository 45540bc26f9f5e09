// Tells signals to the whole process group from those to the supervisor alone: the former reach the
// recorder too, which is in the same group.
//
// On a busy machine one of the two may notice a signal late. Limits: one that reaches both but was
// sent to each alone counts as one to the group.
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
  // The recorder sees this one too: it stands for no other.
  void expect(int number, int64_t arrived_ns) { accounted_ns_[number] = arrived_ns + kUsualTime; }

 private:
  int64_t accounted_ns_[kMaxSignals] = {};  // what the recorder saw until then is known
};

}  // namespace trainscope
