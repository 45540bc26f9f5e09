#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace full_memory_test {

// "memory_nearly_full warning"; "" if there is none.
std::string found_in(PlantedRun& run) {
  std::string text;
  for (const Finding& finding : run.cpu(0.9, 0.95).thread("main", 0.9, 0).diagnose().findings) {
    if (finding.id.ends_with("nearly_full")) text += finding.id + " " + finding.severity;
  }
  return text;
}

PlantedRun with_gpu(const std::string& owner, double used) {
  PlantedRun run;
  run.level("hw.gpu.memory.usage", {{"gpu", "0"}}, used);
  run.level("hw.gpu.memory.limit", {{"gpu", "0"}}, 80e9);
  run.level("job.gpu.memory.usage", {{"gpu", owner}}, used);
  return run;
}

TEST(FullMemory, of_a_gpu_of_the_job_is_told) {
  PlantedRun full = with_gpu("0", 78e9), half = with_gpu("0", 40e9), foreign = with_gpu("1", 78e9);
  EXPECT_EQ(found_in(full), "gpu_memory_nearly_full info");
  EXPECT_EQ(found_in(half), "");
  EXPECT_EQ(found_in(foreign), "");
}

TEST(FullMemory, of_the_control_group_is_what_processes_use) {
  const auto group = [](double own, double with_cache, double waits = 0, double swapped = 0) {
    PlantedRun run;
    run.rate("system.pressure.time", {{"kind", "some"}, {"resource", "memory"}}, waits);
    run.rate("system.swap.io", {{"direction", "out"}}, swapped);
    run.level("job.memory.pss", {}, own).level("cgroup.memory.usage", {}, with_cache);
    run.level("cgroup.memory.limit", {}, 8e9);
    return found_in(run);
  };
  EXPECT_EQ(group(7.9e9, 8e9), "memory_nearly_full info") << "it may be files that it has mapped";
  EXPECT_EQ(group(7.9e9, 8e9, 0.06), "memory_nearly_full warning");
  EXPECT_EQ(group(7.9e9, 8e9, 0, 3e6), "memory_nearly_full warning");
  EXPECT_EQ(group(7.5e9, 8e9), "memory_nearly_full info");
  EXPECT_EQ(group(3e9, 8e9), "") << "the page cache can be given back";
}

// It is read seldom: what it was before the first step counts too.
TEST(FullMemory, of_processes_is_known_from_the_start_of_the_run) {
  std::vector<StoredReport> reports;
  for (int i = 110; i < 200; ++i) {
    reports.push_back({i * 0.1, "pipe", *parse_report(fmt::format("step {}", i - 109))});
  }
  PlantedRun run;
  run.level_at("job.memory.pss", {}, {4, 8}, 7.5e9).level("cgroup.memory.limit", {}, 8e9);
  EXPECT_EQ(found_in(run.report(std::move(reports))), "memory_nearly_full info");
}

TEST(FullMemory, of_a_gpu_that_does_nothing_is_a_neighbours) {
  const auto full = [](double busy) {
    PlantedRun run;
    for (const char* const gpu : {"0", "1"}) {
      run.level("hw.gpu.memory.usage", {{"gpu", gpu}}, gpu[0] == '0' ? 20e9 : 79e9);
      run.level("hw.gpu.memory.limit", {{"gpu", gpu}}, 80e9);
    }
    run.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.9);
    run.level("hw.gpu.utilization", {{"gpu", "1"}}, busy);
    return found_in(run);
  };
  EXPECT_EQ(full(0.0), "") << "no driver tells whose memory it is, in a container";
  EXPECT_EQ(full(0.5), "gpu_memory_nearly_full info");
}

TEST(FullMemory, of_the_machine_is_what_is_not_available) {
  const auto machine = [](double available) {
    PlantedRun run;
    run.level("system.memory.usage", {{"state", "available"}}, available);
    run.level("system.memory.usage", {{"state", "free"}}, 0);
    run.level("system.memory.limit", {}, 64e9);
    return found_in(run);
  };
  EXPECT_EQ(machine(1e9), "memory_nearly_full warning");
  EXPECT_EQ(machine(4e9), "memory_nearly_full info");
  EXPECT_EQ(machine(30e9), "");
}

}  // namespace full_memory_test
}  // namespace trainscope
