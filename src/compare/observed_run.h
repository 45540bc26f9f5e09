// One run reduced to what a comparison needs: at most 512 blocks per metric, and facts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/align.h"
#include "model/comparison.h"
#include "model/training.h"
#include "stats/stats.h"

namespace trainscope {

inline constexpr size_t kMostBlocks = 512;
// Hardware metrics have fewer: where a window ends, a stored block has to be decompressed for all
// series, and 128 of them are a sixth of a day at 10 Hz.
inline constexpr size_t kMostWindows = 128;

struct ObservedMetric {
  std::string name;
  Labels labels;
  std::string unit;
  Observed blocks;

  // Weighted; nothing without blocks.
  std::optional<double> mean() const;
  std::string_view label(std::string_view key) const;
};

struct ObservedSteps {
  double steps = 0, time_s = 0;        // time without checkpoints and evaluations
  ObservedMetric duration;             // of one step
  std::vector<ObservedMetric> others;  // input wait, throughput
  // How many steps had ended at some times, in order.
  struct Progress {
    double time_s = 0, steps = 0;
  };
  std::vector<Progress> progress;

  double steps_at(double time_s) const;
};

// What an hour costs; the currency may be empty.
struct Price {
  double per_h = 0;
  std::string currency;
};
// "2.49", "2.49 EUR", "2.49 EUR/h"; nothing of anything else.
std::optional<Price> parse_price(std::string_view text);

// What a run is, apart from its values.
struct RunFacts {
  std::string host, machine;  // machine: processor, memory, GPUs
  std::optional<double> threads;
  double period_s = 0;
  std::optional<double> batch;
  std::string ranks;  // how many the job has; "": unknown
  std::string step_source;
  std::map<std::string, std::string> versions;  // by name: python, torch, kernel, driver
  std::string data;                             // of --data
  bool is_instrumented = false, is_running = false;
  bool is_damaged = false;     // or a part of it is
  bool is_probed = false;      // its steps were changed on purpose
  double missed_share = 0;     // of the ticks
  std::optional<Price> price;  // of the tag "price"
  std::string unread_price;    // the tag, if it is no price
};

struct ObservedRun {
  ComparedRun run;
  RunPart part;
  RunFacts facts;
  std::string no_steps;  // what is missing, and why: "no steps: REASON"
  std::optional<ObservedSteps> steps;
  std::vector<ObservedMetric> metrics;   // of the hardware, by name and labels
  std::optional<ObservedMetric> energy;  // per step
  std::string energy_of;
  std::optional<ObservedMetric> cost;  // per step
  bool has_phases = false;
  std::map<std::string, double> parts_s;  // of the breakdown, per step, without warm-up
  std::vector<SetResults> results;

  // The sum of the means of the series of a metric that have these labels; nothing if none has.
  std::optional<double> sum_of(std::string_view name, std::string_view key = "",
                               std::string_view value = "") const;
  std::optional<double> mean_of(std::string_view name, std::string_view key = "",
                                std::string_view value = "") const;
  // Whether the job has memory in this GPU; where that is unknown, whether the GPU did anything.
  bool uses_gpu(std::string_view gpu) const;
};

Result<ObservedRun> observe_run(const RunView& run, const PartLimits& limits);

// Its parts, one file each.
Result<std::optional<ObservedSteps>> observe_steps(const RunView& run, const PartLimits& limits,
                                                   RunPart& part);
Result<std::vector<ObservedMetric>> observe_metrics(const RunView& run, const RunPart& part);
Result<std::optional<ObservedMetric>> observe_energy(const RunView& run, const RunPart& part,
                                                     const ObservedSteps& steps, std::string& of);
RunFacts facts_of(const RunView& run);

}  // namespace trainscope
