// What makes a comparison unfair or weak: one row per warning. A row returns its sentence, or ""
// if there is nothing to warn of.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "compare/sides.h"

namespace trainscope {

namespace {

using Runs = std::vector<ObservedRun>;

constexpr double kClockDiffers = 0.05;  // relative
constexpr double kThrottled = 0.02;     // of the time
constexpr double kNeighbour = 0.10;     // of the machine's CPUs
constexpr double kCacheDiffers = 0.20;  // of what was read
constexpr double kLeastRead = 1 << 20;  // bytes per second: less does not matter
constexpr double kDataDiffers = 0.25;   // bytes read per step, relative
constexpr double kMissed = 0.05;        // of the ticks
constexpr double kPausesMatter = 0.05;  // relative change of the ratio of step times
constexpr double kShortS = 10;          // runs that are mostly start-up
constexpr size_t kFewRepeats = 3;
constexpr size_t kMostVersions = 4;
constexpr std::string_view kUnknown = "unknown";

std::set<std::string> texts_of(const Runs& runs, std::string RunFacts::*member) {
  std::set<std::string> texts;
  for (const ObservedRun& run : runs) texts.insert(run.facts.*member);
  return texts;
}

std::string joined(const std::set<std::string>& texts, std::string_view empty) {
  std::string text;
  for (const std::string& one : texts) {
    text += (text.empty() ? "" : ", ") + (one.empty() ? std::string(empty) : one);
  }
  return text;
}

// "WHAT: x in A, y in B" if the two sides differ; "" if `empty` means that nothing is known of one.
std::string text_differs(const Sides& sides, std::string RunFacts::*member, std::string_view what,
                         std::string_view empty = kUnknown) {
  const auto a = texts_of(sides.a, member), b = texts_of(sides.b, member);
  const std::set<std::string> nothing = {""};
  if (a == b || (empty == kUnknown && (a == nothing || b == nothing))) return "";
  return fmt::format("{}: {} in A, {} in B", what, joined(a, empty), joined(b, empty));
}

// The mean over runs of what a function returns; nothing if a run lacks it.
template <typename Function>
std::optional<double> mean_over(const Runs& runs, Function function) {
  double sum = 0;
  for (const ObservedRun& run : runs) {
    const std::optional<double> value = function(run);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(runs.size());
}

std::string same_run(const Sides& sides, const Comparison&) {
  std::map<std::string, std::string> side_of;  // by id
  for (const Runs* runs : {&sides.a, &sides.b}) {
    const std::string side = runs == &sides.a ? "A" : "B";
    for (const ObservedRun& run : *runs) {
      const auto [found, is_new] = side_of.try_emplace(run.run.id, side);
      if (is_new) continue;
      if (found->second == side) return fmt::format("run {} is in {} twice", run.run.id, side);
      return fmt::format("run {} is on both sides", run.run.id);
    }
  }
  return "";
}

// The ids of the runs of both sides of which a fact is true; "": of none.
std::string runs_with(const Sides& sides, bool RunFacts::*fact, std::string_view what) {
  std::set<std::string> ids;
  for (const Runs* runs : {&sides.a, &sides.b}) {
    for (const ObservedRun& run : *runs) {
      if (run.facts.*fact) ids.insert(run.run.id);
    }
  }
  return ids.empty() ? "" : fmt::format("{}: {}", what, joined(ids, ""));
}

std::string unfinished(const Sides& sides, const Comparison&) {
  return runs_with(sides, &RunFacts::is_running, "still being recorded");
}

std::string damaged(const Sides& sides, const Comparison&) {
  return runs_with(sides, &RunFacts::is_damaged, "damaged, read as far as possible");
}

std::string probed(const Sides& sides, const Comparison&) {
  return runs_with(sides, &RunFacts::is_probed, "steps were changed on purpose by probe");
}

std::string other_host(const Sides& sides, const Comparison&) {
  return text_differs(sides, &RunFacts::host, "different hosts");
}

std::string other_machine(const Sides& sides, const Comparison&) {
  return text_differs(sides, &RunFacts::machine, "different hardware");
}

// Of the GPUs that the job uses: the clock of an idle one is low.
std::optional<double> gpu_clock(const ObservedRun& run) {
  double sum = 0, count = 0;
  for (const ObservedMetric& metric : run.metrics) {
    if (metric.name != "hw.gpu.clock" || metric.label("clock") != "sm") continue;
    const auto mean = metric.mean();
    if (!mean || !run.uses_gpu(metric.label("gpu"))) continue;
    sum += *mean;
    count += 1;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::optional<double> cpu_clock(const ObservedRun& run) {
  return run.mean_of("system.cpu.frequency");
}

std::string clock_differs(const Sides& sides, std::optional<double> (*of)(const ObservedRun&),
                          std::string_view what) {
  const auto a = mean_over(sides.a, of), b = mean_over(sides.b, of);
  if (!a || !b || !(*a > 0) || std::abs(*b / *a - 1) <= kClockDiffers) return "";
  return fmt::format("{} clock {} in A, {} in B", what, quantity_text(*a, "Hz"),
                     quantity_text(*b, "Hz"));
}

std::string clocks(const Sides& sides, const Comparison&) {
  const std::string gpu = clock_differs(sides, gpu_clock, "GPU");
  const std::string cpu = clock_differs(sides, cpu_clock, "processor");
  return gpu + (gpu.empty() || cpu.empty() ? "" : "; ") + cpu;
}

// The largest share of the time in which a limit held a GPU of the job or the job back.
std::optional<double> throttled_share(const ObservedRun& run) {
  double most = 0;
  for (const ObservedMetric& metric : run.metrics) {
    const std::string_view reason = metric.label("reason");
    const bool is_gpu =
        metric.name == "hw.gpu.throttle.time" &&
        (reason.find("thermal") != reason.npos || reason.find("power") != reason.npos) &&
        run.uses_gpu(metric.label("gpu"));
    if (!is_gpu && metric.name != "cgroup.cpu.throttled_time") continue;
    most = std::max(most, metric.mean().value_or(0));
  }
  return std::min(1.0, most);  // The kernel adds up the time of all CPUs.
}

std::string throttling(const Sides& sides, const Comparison&) {
  const double a = *mean_over(sides.a, throttled_share), b = *mean_over(sides.b, throttled_share);
  if (std::abs(a - b) <= kThrottled) return "";
  return fmt::format("throttled for {:.0f} % of the time in A, {:.0f} % in B", 100 * a, 100 * b);
}

std::string batch_size(const Sides& sides, const Comparison& comparison) {
  const auto of = [](const ObservedRun& run) { return run.facts.batch; };
  const auto a = mean_over(sides.a, of), b = mean_over(sides.b, of);
  if (!a || !b || *a == *b) return "";
  std::string items;
  for (const ComparedMetric& metric : comparison.metrics) {
    if (metric.name != "train.throughput" || !metric.number.ratio) continue;
    items = fmt::format("; items per second: {}", ratio_text(*metric.number.ratio));
  }
  return fmt::format("batch size {} in A, {} in B: steps are not the same work{}", number_text(*a),
                     number_text(*b), items);
}

std::string ranks(const Sides& sides, const Comparison&) {
  return text_differs(sides, &RunFacts::ranks, "different numbers of ranks");
}

std::string data(const Sides& sides, const Comparison&) {
  std::string paths = text_differs(sides, &RunFacts::data, "different --data", "none");
  if (!paths.empty()) return paths;
  const auto per_s = [](const ObservedRun& run) {
    return run.sum_of("job.io.bytes", "direction", "read");
  };
  const auto per_step = [&](const ObservedRun& run) -> std::optional<double> {
    const auto read = per_s(run);
    if (!run.steps || !read) return std::nullopt;
    return *read * (run.part.end_s - run.part.begin_s) / run.steps->steps;
  };
  const auto a = mean_over(sides.a, per_step), b = mean_over(sides.b, per_step);
  if (!a || !b) return "";
  if (std::max(*mean_over(sides.a, per_s), *mean_over(sides.b, per_s)) < kLeastRead) return "";
  if (std::abs(*a - *b) <= kDataDiffers * std::max(*a, *b)) return "";
  return fmt::format("the job reads {} per step in A, {} in B: the data may differ", bytes_text(*a),
                     bytes_text(*b));
}

// Of all runs of a side: "2.1, 2.3"; of one that has no such package "none".
std::string versions_text(const Runs& runs, const std::string& name) {
  std::set<std::string> versions;
  for (const ObservedRun& run : runs) {
    const auto found = run.facts.versions.find(name);
    versions.insert(found == run.facts.versions.end() ? "none" : found->second);
  }
  return joined(versions, "none");
}

std::string software(const Sides& sides, const Comparison&) {
  std::set<std::string> names;
  size_t inventories = 0;
  for (const auto* runs : {&sides.a, &sides.b}) {
    for (const ObservedRun& run : *runs) {
      inventories += run.facts.versions.contains("kernel") ? 1 : 0;
      for (const auto& [name, version] : run.facts.versions) names.insert(name);
    }
  }
  if (inventories != 0 && inventories != sides.a.size() + sides.b.size()) return "";
  std::string text;
  size_t differing = 0;
  for (const std::string& name : names) {
    const std::string of_a = versions_text(sides.a, name), of_b = versions_text(sides.b, name);
    if (of_a == of_b || ++differing > kMostVersions) continue;
    text += fmt::format("{}{} {} → {}", text.empty() ? "" : ", ", name, of_a, of_b);
  }
  if (text.empty()) return "";
  const std::string more = differing > kMostVersions
                               ? fmt::format(" and {} more", differing - kMostVersions)
                               : std::string();
  return "different versions: " + text + more;
}

// The share of what the job read that came from storage.
std::optional<double> storage_share(const ObservedRun& run) {
  const auto read = run.sum_of("job.io.bytes", "direction", "read");
  const auto from_disk = run.sum_of("job.disk.io", "direction", "read");
  if (!read || !from_disk) return std::nullopt;
  if (std::max(*read, *from_disk) < kLeastRead) return 0;
  return std::min(1.0, *from_disk / std::max(*read, *from_disk));
}

std::string page_cache(const Sides& sides, const Comparison&) {
  const auto cached = [](const ObservedRun& run) -> std::optional<double> {
    const auto size = run.sum_of("system.page_cache.size"),
               in = run.sum_of("system.page_cache.cached");
    if (!size || !in || !(*size > 0)) return std::nullopt;
    return *in / *size;
  };
  auto a = mean_over(sides.a, cached), b = mean_over(sides.b, cached);
  if (a && b && std::abs(*a - *b) > kCacheDiffers) {
    return fmt::format("{:.0f} % of the dataset was in the page cache in A, {:.0f} % in B",
                       100 * *a, 100 * *b);
  }
  a = mean_over(sides.a, storage_share);
  b = mean_over(sides.b, storage_share);
  if (!a || !b || std::abs(*a - *b) <= kCacheDiffers) return "";
  return fmt::format(
      "{:.0f} % of what the job read came from storage in A, {:.0f} % in B: one "
      "page cache was warm",
      100 * *a, 100 * *b);
}

// Of the machine's CPUs, what others than the job used.
std::optional<double> neighbour_share(const ObservedRun& run) {
  const auto machine = run.mean_of("system.cpu.utilization", "cpu", "all");
  const auto job = run.sum_of("job.cpu.time");
  if (!machine || !job || !run.facts.threads || !(*run.facts.threads > 0)) return std::nullopt;
  return std::max(0.0, *machine - *job / *run.facts.threads);
}

std::string neighbour(const Sides& sides, const Comparison&) {
  const auto a = mean_over(sides.a, neighbour_share), b = mean_over(sides.b, neighbour_share);
  if (!a || !b || std::max(*a, *b) <= kNeighbour) return "";
  return fmt::format("other programs used {:.0f} % of the machine's CPUs in A, {:.0f} % in B",
                     100 * *a, 100 * *b);
}

// The speed leaves checkpoints and evaluations out: with them the answer may be another one.
std::string pauses(const Sides&, const Comparison& comparison) {
  const ComparedSpeed& speed = comparison.speed;
  if (!speed.a_s || !speed.b_s || !(*speed.a_s > 0) || !(*speed.b_s > 0)) return "";
  double a_s = *speed.a_s, b_s = *speed.b_s;
  for (const AttributedPart& part : comparison.attribution) {
    if (part.part != "checkpoint" && part.part != "evaluation") continue;
    a_s += part.a_s;
    b_s += part.b_s;
  }
  const double without = *speed.b_s / *speed.a_s, with = b_s / a_s;
  if (!(std::abs(std::log(with / without)) > kPausesMatter)) return "";
  return fmt::format(
      "with its share of checkpoints and evaluations, which the speed leaves out, a step takes {} "
      "in A, {} in B",
      duration_text(a_s), duration_text(b_s));
}

std::string few_repeats(const Sides& sides, const Comparison&) {
  const size_t fewest = std::min(sides.a.size(), sides.b.size());
  if (fewest >= kFewRepeats) return "";
  if (fewest == 1) {
    return "one run on a side: how much repeats vary is unknown; try trainscope run --repeat 5";
  }
  return fmt::format("{} runs on a side: how much repeats vary is hardly known", fewest);
}

std::string period(const Sides& sides, const Comparison&) {
  const auto of = [](const ObservedRun& run) { return std::optional(run.facts.period_s); };
  const auto a = mean_over(sides.a, of), b = mean_over(sides.b, of);
  if (!(std::abs(*a - *b) > 1e-9)) return "";
  return fmt::format("sampled every {} in A, {} in B", duration_text(*a), duration_text(*b));
}

std::string instrumented(const Sides& sides, const Comparison&) {
  const auto of = [](const ObservedRun& run) {
    return std::optional(run.facts.is_instrumented ? 1.0 : 0.0);
  };
  const double a = *mean_over(sides.a, of), b = *mean_over(sides.b, of);
  return a == b ? "" : fmt::format("only {} was recorded with --instrument", a > b ? "A" : "B");
}

std::string step_source(const Sides& sides, const Comparison&) {
  if (!sides.no_steps().empty()) return "";
  return text_differs(sides, &RunFacts::step_source, "different sources of steps");
}

std::string missed_samples(const Sides& sides, const Comparison&) {
  const auto of = [](const ObservedRun& run) { return std::optional(run.facts.missed_share); };
  const double a = *mean_over(sides.a, of), b = *mean_over(sides.b, of);
  if (std::max(a, b) <= kMissed) return "";
  return fmt::format("{:.0f} % of the samples were missed in A, {:.0f} % in B", 100 * a, 100 * b);
}

std::string short_run(const Sides& sides, const Comparison&) {
  double shortest_s = INFINITY;
  for (const Runs* runs : {&sides.a, &sides.b}) {
    for (const ObservedRun& run : *runs) {
      shortest_s = std::min(shortest_s, run.part.end_s - run.part.begin_s);
    }
  }
  if (!(shortest_s < kShortS)) return "";
  return fmt::format("only {} of the shortest run could be compared", duration_text(shortest_s));
}

struct WarningRow {
  const char* id;
  std::string (*find)(const Sides& sides, const Comparison& comparison);
};

constexpr WarningRow kWarnings[] = {
    {"same_run", same_run},
    {"damaged", damaged},
    {"running", unfinished},
    {"probe", probed},
    {"host", other_host},
    {"hardware", other_machine},
    {"batch_size", batch_size},
    {"ranks", ranks},
    {"data", data},
    {"page_cache", page_cache},
    {"clocks", clocks},
    {"throttling", throttling},
    {"neighbour", neighbour},
    {"gpu_neighbour", warn_of_gpu_neighbours},
    {"energy", warn_of_idle_energy},
    {"price", warn_of_prices},
    {"software", software},
    {"instrument", instrumented},
    {"step_source", step_source},
    {"period", period},
    {"missed_samples", missed_samples},
    {"pauses", pauses},
    {"short", short_run},
    {"few_times", warn_of_few_times},
    {"few_repeats", few_repeats},
};

}  // namespace

std::vector<ComparisonWarning> find_warnings(const Sides& sides, const Comparison& comparison) {
  std::vector<ComparisonWarning> warnings;
  for (const WarningRow& row : kWarnings) {
    std::string summary = row.find(sides, comparison);
    if (!summary.empty()) warnings.push_back({row.id, std::move(summary)});
  }
  return warnings;
}

}  // namespace trainscope
