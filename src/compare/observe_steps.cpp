// Steps of a run in equal consecutive blocks. They are read once, one by one.
#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/observed_run.h"

namespace trainscope {

namespace {

struct StepBlock {
  double steps = 0, time_s = 0;
  double input_s = 0, waited_steps = 0;  // of steps whose wait is known
  double items = 0, counted_s = 0;       // of steps whose batch size is known
  double throughputs = 0, reported = 0;  // of steps that report their throughput
  double end_s = 0;
  int64_t measurements = 0;

  void add(const Step& step, double mean_s) {
    const auto covers = static_cast<double>(step.covers);
    steps += covers;
    time_s += mean_s * covers;
    end_s = step.time_s;
    if (step.input_wait_s) {
      input_s += *step.input_wait_s * covers;
      waited_steps += covers;
    }
    if (step.items) {
      items += *step.items * covers;
      counted_s += mean_s * covers;
    }
    if (step.throughput) {
      throughputs += *step.throughput * covers;
      reported += covers;
    }
  }

  void join(const StepBlock& later) {
    steps += later.steps;
    time_s += later.time_s;
    input_s += later.input_s;
    waited_steps += later.waited_steps;
    items += later.items;
    counted_s += later.counted_s;
    throughputs += later.throughputs;
    reported += later.reported;
    end_s = later.end_s;
    measurements += later.measurements;
  }
};

// Blocks of equally many measurements, at most kMostBlocks of them: when there are more, each two
// become one.
class StepBlocks {
 public:
  void add(const Step& step, double mean_s) {
    // Steps that arrived together share one measured time.
    const bool is_averaged = !step.duration_s;
    const bool is_shared = is_averaged && is_last_averaged_ && blocks_.back().end_s == step.time_s;
    is_last_averaged_ = is_averaged;
    if (!is_shared) begin_measurement();
    blocks_.back().add(step, mean_s);
  }

  std::vector<StepBlock> finish() {
    // A short last block weighs less, but is as uncertain as any: it joins the one before it.
    if (blocks_.size() > 1 && blocks_.back().measurements * 2 < per_block_) {
      const StepBlock last = blocks_.back();
      blocks_.pop_back();
      blocks_.back().join(last);
    }
    return std::move(blocks_);
  }

 private:
  void begin_measurement() {
    if (blocks_.empty() || blocks_.back().measurements == per_block_) {
      if (blocks_.size() == kMostBlocks) join_pairs();
      blocks_.emplace_back();
    }
    ++blocks_.back().measurements;
  }

  void join_pairs() {
    for (size_t i = 0; i < kMostBlocks / 2; ++i) {
      blocks_[i] = blocks_[2 * i];
      blocks_[i].join(blocks_[2 * i + 1]);
    }
    blocks_.resize(kMostBlocks / 2);
    per_block_ *= 2;
  }

  std::vector<StepBlock> blocks_;
  int64_t per_block_ = 1;
  bool is_last_averaged_ = false;
};

Result<std::vector<StepBlock>> read_blocks(const Training& training, const PartLimits& limits,
                                           RunPart& part) {
  StepBlocks blocks;
  const auto steps = training.details->steps();
  double count = 0, end_s = part.end_s;
  bool is_left_out = part.is_first_left_out;
  for (Step step;;) {
    TS_TRY(const bool has_more, steps->next(step));
    if (!has_more) break;
    const auto mean_s = step.mean_s();
    if (step.kind == "warmup" || !mean_s || !std::isfinite(*mean_s)) continue;
    if (std::exchange(is_left_out, false)) continue;
    if (step.time_s > part.end_s) break;
    if (limits.steps && count + static_cast<double>(step.covers) > *limits.steps) break;
    blocks.add(step, *mean_s);
    count += static_cast<double>(step.covers);
    end_s = step.time_s;
  }
  if (limits.steps && count > 0) part.end_s = end_s;
  return blocks.finish();
}

void add_block(ObservedMetric& metric, double sum, double weight) {
  if (!(weight > 0)) return;
  metric.blocks.means.push_back(sum / weight);
  metric.blocks.weights.push_back(weight);
}

}  // namespace

double ObservedSteps::steps_at(double time_s) const {
  const auto after = std::find_if(progress.begin(), progress.end(),
                                  [&](const Progress& each) { return each.time_s >= time_s; });
  if (after == progress.begin()) return 0;
  if (after == progress.end()) return progress.back().steps;
  const Progress& before = *std::prev(after);
  const double share = (time_s - before.time_s) / (after->time_s - before.time_s);
  return before.steps + share * (after->steps - before.steps);
}

Result<std::optional<ObservedSteps>> observe_steps(const RunView& run, const PartLimits& limits,
                                                   RunPart& part) {
  const Training& training = run.training();
  if (!(part.steps > 0) || !training.details) return std::optional<ObservedSteps>();
  TS_TRY(const std::vector<StepBlock> blocks, read_blocks(training, limits, part));
  if (blocks.empty()) return std::optional<ObservedSteps>();
  ObservedSteps observed;
  const Labels labels = {{"source", training.source}};
  observed.duration = {"train.step.duration", labels, "s", {}};
  ObservedMetric wait{"train.input_wait", labels, "s", {}};
  ObservedMetric throughput{"train.throughput", labels, "{item}/s", {}};
  observed.progress.push_back({part.begin_s, 0});
  for (const StepBlock& block : blocks) {
    add_block(observed.duration, block.time_s, block.steps);
    add_block(wait, block.input_s, block.waited_steps);
    const bool is_counted = block.counted_s > 0;
    add_block(throughput, is_counted ? block.items : block.throughputs,
              is_counted ? block.counted_s : block.reported);
    observed.steps += block.steps;
    observed.time_s += block.time_s;
    if (block.end_s > observed.progress.back().time_s) {
      observed.progress.push_back({block.end_s, observed.steps});
    }
  }
  for (ObservedMetric* metric : {&wait, &throughput}) {
    if (!metric->blocks.means.empty()) observed.others.push_back(std::move(*metric));
  }
  return std::optional(std::move(observed));
}

}  // namespace trainscope
