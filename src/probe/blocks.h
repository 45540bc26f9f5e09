// The blocks of a probe, as the modules inside the job reported them, with their recorded steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace trainscope {

struct ProbeBlock {
  std::string what;
  bool is_changed = false;
  int64_t pair = 0;
  double from_s = 0, to_s = 0;  // without the steps that were discarded
  int64_t discarded = 0;
  double slept_s = 0;
  double sleep_share = 0;       // of a step, that each step was to sleep
  double given_s = 0;           // for handing out batches again
  std::optional<double> cpu_s;  // CPU time of the job's process
  double queued_s = 0;          // for which the training thread waited for a processor
  bool has_device = false;
  bool has_own_threads = false;  // of the framework, that are not lowered with the processors
  // Of the recorded steps that ended within it:
  double steps = 0, time_s = 0;

  std::optional<double> mean_s() const {
    return steps > 0 ? std::optional(time_s / steps) : std::nullopt;
  }
};

// The text of a mark, without kProbeMark; nothing if it is not about a block.
std::optional<ProbeBlock> parse_block(std::string_view text, double time_s);

// Adds the steps of the run to the blocks, which are in order of time.
Status add_steps(const RunView& run, std::vector<ProbeBlock>& blocks);

}  // namespace trainscope
