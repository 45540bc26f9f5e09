#include "cli/metric_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace trainscope {
namespace metric_table_test {

std::string place_text(const MetricSpec& spec) {
  std::string text(spec.name);
  if (!spec.info.label.empty()) {
    text += "{" + std::string(spec.info.label) + "=" + std::string(spec.info.label_value) + "}";
  }
  return text + (spec.info.skips_idle ? " if not idle" : "");
}

// People know where to look: a metric is moved on purpose only.
TEST(MetricTable, info_shows_the_main_metrics_in_this_order) {
  const std::vector<std::string> expected = {
      "train.step.duration",
      "train.input_wait",
      "train.throughput",
      "train.loss",
      "train.accuracy",
      "job.cpu.utilization",
      "job.cpu.time",
      "job.memory.usage",
      "job.process.count",
      "job.thread.count",
      "job.io.bytes",
      "job.disk.io",
      "job.paging.faults{type=major} if not idle",
      "system.cpu.utilization{cpu=all}",
      "system.cpu.run_queue",
      "system.memory.utilization",
      "system.swap.io if not idle",
      "system.disk.utilization if not idle",
      "system.disk.io if not idle",
      "system.network.io if not idle",
      "system.pressure.time{kind=some} if not idle",
      "cgroup.cpu.throttled_time if not idle",
      "cgroup.memory.usage if not idle",
      "hw.temperature if not idle",
      "hw.power if not idle",
      "hw.energy if not idle",
      "hw.gpu.utilization",
      "hw.gpu.memory.usage",
      "hw.gpu.power",
      "hw.gpu.temperature",
  };
  std::vector<std::string> shown;
  for (const MetricSpec& spec : main_metrics()) shown.push_back(place_text(spec));
  EXPECT_EQ(shown, expected);
}

TEST(MetricTable, collectors_that_share_a_metric_agree_on_it) {
  std::map<std::string_view, MetricSpec> first;
  std::map<int, std::string_view> orders;
  for (const MetricSpec& spec : all_metrics()) {
    SCOPED_TRACE(spec.name);
    EXPECT_FALSE(spec.help.empty());
    const MetricSpec& known = first.emplace(spec.name, spec).first->second;
    EXPECT_EQ(spec.unit, known.unit);
    EXPECT_EQ(spec.kind, known.kind);
    EXPECT_EQ(spec.info, known.info);
    if (spec.is_main()) {
      EXPECT_EQ(orders.emplace(spec.info.order, spec.name).first->second, spec.name)
          << "two metrics have the order " << spec.info.order;
    }
  }
}

}  // namespace metric_table_test
}  // namespace trainscope
