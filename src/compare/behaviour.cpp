// Does the hardware behave differently? Judged by the metrics that describe a machine as a whole;
// the others are in the table.
#include <algorithm>
#include <array>

#include "compare/sides.h"

namespace trainscope {

namespace {

struct MainMetric {
  std::string_view name, title;
  std::string_view key = "";   // of the label that tells several apart
  std::string_view only = "";  // its value; "": each of them
};

constexpr std::array<MainMetric, 17> kMainMetrics = {{
    {"system.cpu.utilization", "processor", "cpu", "all"},
    {"job.cpu.utilization", "processor use of the job"},
    {"hw.gpu.utilization", "GPU", "gpu"},
    {"hw.gpu.sm_active", "GPU multiprocessors", "gpu"},
    {"system.memory.utilization", "memory"},
    {"job.memory.usage", "memory of the job"},
    {"hw.gpu.memory.usage", "GPU memory", "gpu"},
    {"system.disk.utilization", "disk", "device"},
    {"job.disk.io", "storage", "direction"},
    {"job.io.bytes", "I/O calls of the job", "direction"},
    {"system.network.io", "network", "direction"},
    {"system.cpu.frequency", "processor clock", "cpu", "all"},
    {"hw.gpu.clock", "GPU clock", "clock", "sm"},
    {"hw.temperature", "temperature", "sensor"},
    {"hw.gpu.temperature", "GPU temperature", "gpu"},
    {"hw.power", "power", "sensor"},
    {"hw.gpu.power", "GPU power", "gpu"},
}};

// Its place in the table; nothing for other metrics.
std::optional<size_t> main_place(const ComparedMetric& metric) {
  for (size_t i = 0; i < kMainMetrics.size(); ++i) {
    const MainMetric& main = kMainMetrics[i];
    if (metric.name != main.name) continue;
    if (main.only.empty() || value_of_label(metric.labels, main.key) == main.only) return i;
  }
  return std::nullopt;
}

bool is_same_metric(const ComparedMetric& a, const ComparedMetric& b) {
  return a.name == b.name && a.is_main && b.is_main;
}

// "disk sda" where there are several disks.
void add_titles(std::vector<ComparedMetric>& metrics) {
  for (ComparedMetric& metric : metrics) {
    if (!metric.is_main) continue;
    const MainMetric& main = kMainMetrics[*main_place(metric)];
    const auto count = std::count_if(metrics.begin(), metrics.end(), [&](const auto& other) {
      return is_same_metric(other, metric);
    });
    metric.title = main.title;
    if (count < 2) continue;
    for (const auto& [name, value] : metric.labels) {
      if (value != main.only) metric.title += " " + value;
    }
  }
}

}  // namespace

ComparedBehaviour judge_behaviour(std::vector<ComparedMetric>& metrics) {
  ComparedBehaviour behaviour;
  for (ComparedMetric& metric : metrics) metric.is_main = main_place(metric).has_value();
  std::stable_sort(metrics.begin(), metrics.end(), [](const auto& x, const auto& y) {
    return main_place(x).value_or(kMainMetrics.size()) <
           main_place(y).value_or(kMainMetrics.size());
  });
  add_titles(metrics);
  size_t different = 0, same = 0;
  double smallest = 1, smallest_of_all = 1;  // p-values
  for (const ComparedMetric& metric : metrics) {
    if (!metric.is_main || !metric.number.p_adjusted) continue;
    ++behaviour.main_metrics;
    const std::string& verdict = metric.number.verdict;
    smallest_of_all = std::min(smallest_of_all, *metric.number.p_adjusted);
    if (verdict != "same") smallest = std::min(smallest, *metric.number.p_adjusted);
    different += verdict == "higher" || verdict == "lower" ? 1 : 0;
    same += verdict == "same" ? 1 : 0;
  }
  const bool is_all_same = same == behaviour.main_metrics;
  if (behaviour.main_metrics > 0) behaviour.p = is_all_same ? smallest_of_all : smallest;
  if (different > 0) {
    behaviour.verdict = "different";
  } else if (behaviour.main_metrics > 0 && is_all_same) {
    behaviour.verdict = "same";
  }
  return behaviour;
}

}  // namespace trainscope
