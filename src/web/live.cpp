#include "web/live.h"

#include <exception>

#include "base/clock.h"
#include "base/freed_memory.h"
#include "base/json.h"
#include "model/training.h"
#include "web/asked_run.h"

namespace trainscope {

namespace {

AskedRun open_live(Site& site, const std::string& id) {
  try {
    return open_run_by_id(site, id, OpenedRuns::Wanted::samples);
  } catch (const std::exception& exception) {  // no memory
    return {nullptr, refusal(500, exception.what())};
  }
}

LiveState read_live_state(Site& site, const std::string& id) {
  const AskedRun asked = open_live(site, id);
  if (asked.run == nullptr) {
    const Json error = parse_json(asked.refused.body);
    return {dump_json(Json{{"duration_s", nullptr},
                           {"status", "damaged"},
                           {"samples", nullptr},
                           {"missed", nullptr},
                           {"steps", nullptr},
                           {"error", field(error, "error")}}),
            true};
  }
  const RunView& run = *asked.run;
  const Sampling& sampling = run.sampling();
  // A recorder that is gone: the run is over, and its end was not recorded.
  const bool is_unclosed = run.status() != RunStatus::running && run.manifest().ended.empty() &&
                           run.manifest().imported_format.empty();
  return {dump_json(Json{{"duration_s", run.duration_s()},
                         {"status", run_status_name(run.status())},
                         {"samples", sampling.samples},
                         {"missed", sampling.missed},
                         {"steps", value_or_null(run.training().count)},
                         {"recorder_gone", is_unclosed}}),
          run.status() != RunStatus::running};
}

}  // namespace

LiveState live_state(Site& site, const std::string& id) {
  const int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  LiveState state = read_live_state(site, id);
  // Each reading frees the one before, among what is in use: without this the heap grows slowly.
  return_freed_memory();
  state.pause_ns = pause_after_reading_ns(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
  return state;
}

std::string event_text(const LiveState& state) {
  return std::string("event: ") + (state.is_over ? "ended" : "now") + "\ndata: " + state.data +
         "\n\n";
}

}  // namespace trainscope
