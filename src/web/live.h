// What a page that follows a run is told: how far it is.
//
// Guarantees: a run is read once for all pages that follow it (opened_runs.h), and so seldom that
// it takes a twentieth of a core, also if more runs are followed than are held open.
#pragma once

#include <cstdint>
#include <string>

namespace trainscope {

struct Site;  // route.h

struct LiveState {
  std::string data;  // JSON: {duration_s, status, samples, missed, steps}
  bool is_over = false;
  int64_t pause_ns = 0;  // until it should be read again
};

// A run that cannot be read any more is over: its status is "damaged".
LiveState live_state(Site& site, const std::string& id);

// One event as text: "event: now\ndata: {…}\n\n".
std::string event_text(const LiveState& state);
inline constexpr const char* kHeartbeat = ": .\n\n";

}  // namespace trainscope
