#include "compare/observed_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/analyze.h"

namespace trainscope {

namespace {

ComparedRun identity_of(const RunView& run) {
  const Manifest& manifest = run.manifest();
  ComparedRun identity;
  identity.id = manifest.id;
  identity.name = manifest.name;
  identity.status = run_status_name(run.status());
  identity.duration_s = run.duration_s();
  return identity;
}

// The breakdown is of all steps, with pauses; what makes the first ones slower is left out.
void observe_breakdown(const RunView& run, const Diagnosis& diagnosis, ObservedRun& observed) {
  const Training& training = run.training();
  const double steps = training.statistics.steps + static_cast<double>(training.warmup_steps);
  observed.has_phases = training.has_input_phases || training.has_compute_phases;
  if (!(steps > 0)) return;
  for (const BreakdownPart& part : diagnosis.breakdown) {
    if (part.part == "start-up") continue;
    // Saves that the job does not report are in its steps.
    const bool is_unreported = part.part == "checkpoint" && !training.find_phase_sum("checkpoint");
    observed.parts_s[is_unreported ? "saving" : part.part] = part.time_s / steps;
  }
}

// The time of a step at the price of an hour.
std::optional<ObservedMetric> observe_cost(const ObservedRun& run) {
  constexpr double kHourS = 3600;
  if (!run.steps || !run.facts.price) return std::nullopt;
  const Price& price = *run.facts.price;
  const std::string unit = price.currency.empty() ? "{money}" : price.currency;
  ObservedMetric cost{"train.cost_per_step",
                      {{"currency", price.currency}},
                      unit + "/{step}",
                      run.steps->duration.blocks};
  for (double& mean : cost.blocks.means) mean *= price.per_h / kHourS;
  return cost;
}

// A reason that is a sentence of its own, without what is said before it anyway.
std::string_view without_subject(std::string_view reason) {
  for (const std::string_view subject :
       {"no steps: ", "no steps found; ", "step times are unknown: "}) {
    if (reason.starts_with(subject)) return reason.substr(subject.size());
  }
  return reason;
}

// A job may have done steps of which only the times are unknown.
std::string no_steps_reason(const Training& training, bool is_damaged) {
  if (is_damaged && training.observed == 0) return "no steps that can be read: it is damaged";
  if (!training.reason.empty())
    return fmt::format("no steps: {}", without_subject(training.reason));
  const bool is_known = !training.times_reason.empty();
  return fmt::format(
      "no {}: {}", training.observed > 0 ? "step times" : "steps",
      is_known ? without_subject(training.times_reason) : "no step has a known duration");
}

}  // namespace

std::optional<double> ObservedMetric::mean() const {
  double sum = 0, weight = 0;
  for (size_t i = 0; i < blocks.means.size(); ++i) {
    const double own = blocks.weights.empty() ? 1 : blocks.weights[i];
    sum += blocks.means[i] * own;
    weight += own;
  }
  return weight > 0 ? std::optional(sum / weight) : std::nullopt;
}

std::string_view ObservedMetric::label(std::string_view key) const {
  return value_of_label(labels, key);
}

std::optional<double> ObservedRun::sum_of(std::string_view name, std::string_view key,
                                          std::string_view value) const {
  std::optional<double> sum;
  for (const ObservedMetric& metric : metrics) {
    if (metric.name != name || (!key.empty() && metric.label(key) != value)) continue;
    if (const auto mean = metric.mean()) sum = sum.value_or(0) + *mean;
  }
  return sum;
}

std::optional<double> ObservedRun::mean_of(std::string_view name, std::string_view key,
                                           std::string_view value) const {
  double sum = 0, count = 0;
  for (const ObservedMetric& metric : metrics) {
    if (metric.name != name || (!key.empty() && metric.label(key) != value)) continue;
    const auto mean = metric.mean();
    if (!mean) continue;
    sum += *mean;
    count += 1;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

bool ObservedRun::uses_gpu(std::string_view gpu) const {
  constexpr double kIdle = 0.01;  // utilisation
  if (sum_of("job.gpu.memory.usage").has_value()) {
    return sum_of("job.gpu.memory.usage", "gpu", gpu).value_or(0) > 0;
  }
  return mean_of("hw.gpu.utilization", "gpu", gpu).value_or(1) > kIdle;
}

Result<ObservedRun> observe_run(const RunView& run, const PartLimits& limits) {
  ObservedRun observed;
  observed.run = identity_of(run);
  observed.facts = facts_of(run);
  observed.part = whole_part(run);
  if (limits.length_s) {
    observed.part.end_s = std::min(observed.part.end_s, observed.part.begin_s + *limits.length_s);
  }
  const bool has_timed_steps = observed.part.steps > 0;
  TS_TRY(observed.steps, observe_steps(run, limits, observed.part));
  const Training& training = run.training();
  if (!observed.steps) {
    const bool is_cut_off = has_timed_steps && (limits.length_s || limits.steps);
    observed.no_steps = is_cut_off ? "no steps: none ended in the part that --align compares"
                                   : no_steps_reason(training, observed.facts.is_damaged);
  }
  TS_TRY(observed.metrics, observe_metrics(run, observed.part));
  if (observed.steps) {
    TS_TRY(observed.energy,
           observe_energy(run, observed.part, *observed.steps, observed.energy_of));
  }
  observed.cost = observe_cost(observed);
  TS_TRY(const Diagnosis diagnosis, diagnose(run));
  observed.run.verdict = diagnosis.verdict;
  observed.run.cause = diagnosis.cause;
  observe_breakdown(run, diagnosis, observed);
  observed.results = training.results;
  observed.run.from_s = observed.part.begin_s;
  observed.run.to_s = observed.part.end_s;
  observed.run.warmup_steps = observed.part.warmup_steps;
  if (observed.steps) observed.run.steps = observed.steps->steps;
  return observed;
}

}  // namespace trainscope
