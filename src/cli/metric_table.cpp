#include "cli/metric_table.h"

#include <algorithm>

#include "collect/collect.h"
#include "store/store.h"
#include "training/training.h"

namespace trainscope {

std::vector<MetricSpec> all_metrics() {
  std::vector<MetricSpec> all = derived_metrics();
  const auto add = [&](std::span<const MetricSpec> metrics) {
    all.insert(all.end(), metrics.begin(), metrics.end());
  };
  add(training_metrics());
  for (const Collector* collector : collectors()) add(collector->metrics);
  return all;
}

std::vector<MetricSpec> main_metrics() {
  std::vector<MetricSpec> metrics = all_metrics();
  std::erase_if(metrics, [](const MetricSpec& spec) { return !spec.is_main(); });
  std::stable_sort(metrics.begin(), metrics.end(), [](const MetricSpec& a, const MetricSpec& b) {
    return a.info.order < b.info.order;
  });
  const auto same = [](const MetricSpec& a, const MetricSpec& b) { return a.name == b.name; };
  metrics.erase(std::unique(metrics.begin(), metrics.end(), same), metrics.end());
  return metrics;
}

}  // namespace trainscope
