#include "record/supervise/signal_witness.h"

#include <algorithm>
#include <cstdlib>

namespace trainscope {

// The recorder counts first: whoever sees the time sees the sighting counted.
Sightings sightings_of(const Shared& memory, int number) {
  Sightings sightings;
  sightings.last_ns = memory.signal_seen_ns[number];
  sightings.count = memory.signal_sightings[number];
  return sightings;
}

bool SignalWitness::is_seen(int number, int64_t arrived_ns, const Sightings& now) {
  Known& known = known_[number];
  const bool is_new = now.count > known.accounted;
  known.accounted = std::max(known.accounted, now.count);
  // A recorder that was killed before it saw that one has a successor that will not.
  const bool is_of_earlier =
      now.count == known.expected && now.last_ns - known.expected_since_ns < kLongestStall;
  if (is_of_earlier) return now.last_ns >= arrived_ns;  // it took both as one
  return std::abs(now.last_ns - arrived_ns) < kUsualTime ||
         (is_new && now.last_ns > arrived_ns - kLongestStall);
}

void SignalWitness::expect(int number, int64_t arrived_ns, const Sightings& now) {
  Known& known = known_[number];
  const bool is_new = now.count > known.accounted;
  known.accounted = std::max(known.accounted, now.count);
  const bool was_seen = is_new && std::abs(now.last_ns - arrived_ns) < kUsualTime;
  known.expected = was_seen ? now.count : now.count + 1;
  known.expected_since_ns = arrived_ns;
}

}  // namespace trainscope
