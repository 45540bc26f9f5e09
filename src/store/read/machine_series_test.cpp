#include "store/read/machine_series.h"

#include <gtest/gtest.h>

#include "store/read/run_fixture.h"
#include "testing/fake_run.h"

namespace trainscope {
namespace machine_series_test {

constexpr int64_t kSecondNs = 1'000'000'000;

Manifest& start_at(FakeRun& run, int64_t local_rank, int64_t zero_s) {
  Manifest& m = run.own_manifest();
  m.boot_id = "boot";
  m.local_rank = local_rank;
  m.records_machine = local_rank == 0;
  m.zero_boottime_ns = zero_s * kSecondNs;
  return m;
}

// A run of local rank 0 that begins at 100 s, on a machine with two GPUs.
std::unique_ptr<FakeRun> machine_run(double job_gpu_bytes = 1) {
  auto run = std::make_unique<FakeRun>(1, 10);
  start_at(*run, 0, 100);
  const auto add = [&](const std::string& metric, const Labels& labels, Kind kind, double factor) {
    run->add(metric, labels, kind, {0, 2, 4, 6, 8, 10},
             {0, 2 * factor, 4 * factor, 6 * factor, 8 * factor, 10 * factor});
  };
  add("job.cpu.time", {}, Kind::counter, 7);
  add("system.cpu.time", {{"cpu", "all"}, {"state", "user"}}, Kind::counter, 3);
  add("system.cpu.time", {{"cpu", "all"}, {"state", "steal"}}, Kind::counter, 0.5);
  add("system.disk.io", {{"device", "sda"}}, Kind::counter, 5);
  for (const char* gpu : {"0", "1"}) {
    run->add("hw.gpu.utilization", {{"gpu", gpu}}, Kind::gauge, {0, 10}, {0.9, 0.9});
    run->add("job.gpu.memory.usage", {{"gpu", gpu}}, Kind::gauge, {0, 10},
             {job_gpu_bytes, job_gpu_bytes});
  }
  return run;
}

// The run of another local rank, which begins two seconds later.
std::unique_ptr<FakeRun> rank_run(int64_t local_rank, const std::string& host = "{}") {
  auto run = std::make_unique<FakeRun>(1, 6);
  start_at(*run, local_rank, 102);
  run->set_host(host);
  run->add("job.cpu.time", {}, Kind::counter, {0, 6}, {0, 6});
  run->add_absent("train.loss");
  return run;
}

std::string added_text(const RunView& run) {
  std::string text;
  for (size_t i = 1; i < run.recorded_series().size(); ++i) {
    const Series& series = run.recorded_series()[i];
    if (series.status != SeriesStatus::absent) text += series_text(series) + " ";
  }
  return text;
}

std::string gpus_of(const std::string& host, int64_t local_rank = 1, double job_gpu_bytes = 1) {
  const auto run = add_machine_series(rank_run(local_rank, host), machine_run(job_gpu_bytes));
  std::string gpus;
  for (const Series& series : run->recorded_series()) {
    if (series.metric == "hw.gpu.utilization") gpus += series.labels[0].second + " ";
  }
  return gpus;
}

TEST(MachineSeries, the_series_of_the_machine_are_added_and_those_of_the_other_rank_are_not) {
  const auto run = add_machine_series(rank_run(1), machine_run());
  EXPECT_EQ(added_text(*run),
            "system.cpu.time{cpu=all;state=steal} system.disk.io{device=sda} "
            "hw.gpu.utilization{gpu=1} ");
  EXPECT_EQ(run->manifest().local_rank, 1);
  EXPECT_EQ(run->duration_s(), 6);
}

TEST(MachineSeries, times_are_those_of_the_run) {
  const auto run = add_machine_series(rank_run(1), machine_run());
  EXPECT_EQ(points_text(*run, "system.disk.io{device=sda}"), "-2=0 0=10 2=20 4=30 6=40 8=50");
  EXPECT_EQ(points_text(*run, "system.disk.io{device=sda}", {0, 4}), "0=10 2=20");
  EXPECT_EQ(points_text(*run, "job.cpu.time"), "0=0 6=6");
  const auto folds =
      run->fold_windows({{series_index(*run, "system.disk.io{device=sda}"), Reading::rate},
                         {series_index(*run, "job.cpu.time"), Reading::rate}},
                        {0, 3, 2});
  ASSERT_TRUE(folds);
  EXPECT_DOUBLE_EQ(*(*folds)[0].mean(), 5);
  EXPECT_DOUBLE_EQ(*(*folds)[1].mean(), 1);
  // After the other run has ended, nothing is known of the machine.
  const auto later = run->fold_windows(
      {{series_index(*run, "system.disk.io{device=sda}"), Reading::rate}}, {20, 3, 2});
  ASSERT_TRUE(later);
  EXPECT_FALSE((*later)[0].mean());
}

TEST(MachineSeries, cpu_time_of_other_ranks_has_its_own_name) {
  std::vector<std::unique_ptr<RunView>> others;
  others.push_back(rank_run(1));
  others.push_back(rank_run(2));
  const auto run = add_rank_series(machine_run(), std::move(others));
  std::vector<WindowQuery> queries;
  for (size_t i = 0; i < run->recorded_series().size(); ++i) {
    if (run->recorded_series()[i].metric == kRanksCpuTime) queries.push_back({i, Reading::rate});
  }
  ASSERT_EQ(queries.size(), 2U);
  EXPECT_EQ(points_text(*run, kRanksCpuTime), "2=0 8=6");
  queries.push_back({series_index(*run, "job.cpu.time"), Reading::rate});
  const auto folds = run->fold_windows(queries, {2, 3, 2});
  ASSERT_TRUE(folds);
  EXPECT_DOUBLE_EQ(*(*folds)[0].mean(), 1);
  EXPECT_DOUBLE_EQ(*(*folds)[1].mean(), 1);
  EXPECT_DOUBLE_EQ(*(*folds)[2].mean(), 7);
}

TEST(MachineSeries, a_rank_has_its_own_gpu) {
  EXPECT_EQ(gpus_of("{}"), "1 ");
  EXPECT_EQ(gpus_of(R"({"environment": {"CUDA_VISIBLE_DEVICES": "1,0"}})"), "0 ");
  EXPECT_EQ(gpus_of(R"({"environment": {"CUDA_VISIBLE_DEVICES": "0"}})"), "0 ");
  EXPECT_EQ(gpus_of(R"({"environment": {"CUDA_VISIBLE_DEVICES": "GPU-b"},
                        "gpus": [{"index": 0, "uuid": "GPU-aa"}, {"index": 1, "uuid": "GPU-bb"}]})"),
            "1 ");
  EXPECT_EQ(gpus_of("{}", 5), "0 1 ") << "which one is unknown";
}

std::string gpus_added_to(std::unique_ptr<FakeRun> rank) {
  const auto run = add_machine_series(std::move(rank), machine_run());
  std::string gpus;
  for (const Series& series : run->recorded_series()) {
    if (series.metric == "hw.gpu.utilization") gpus += series.labels[0].second + " ";
  }
  return gpus;
}

TEST(MachineSeries, the_gpu_of_a_rank_is_the_one_in_which_it_has_memory) {
  const char* const first = R"({"environment": {"CUDA_VISIBLE_DEVICES": "0"}})";
  const auto with_memory = [&](double of_first, double of_second) {
    auto rank = rank_run(1, first);
    rank->add("job.gpu.memory.usage", {{"gpu", "0"}}, Kind::gauge, {0, 6}, {of_first, of_first});
    rank->add("job.gpu.memory.usage", {{"gpu", "1"}}, Kind::gauge, {0, 6}, {of_second, of_second});
    return rank;
  };
  EXPECT_EQ(gpus_added_to(with_memory(0, 5)), "1 ");
  EXPECT_EQ(gpus_added_to(with_memory(5, 5)), "0 1 ");
  EXPECT_EQ(gpus_added_to(with_memory(0, 0)), "");
}

TEST(MachineSeries, a_rank_that_records_its_gpu_has_no_other) {
  auto rank = rank_run(1);
  rank->add("hw.gpu.utilization", {{"gpu", "own"}}, Kind::gauge, {0, 6}, {0.5, 0.5});
  EXPECT_EQ(gpus_added_to(std::move(rank)), "own ");
}

TEST(MachineSeries, a_rank_without_a_gpu_has_none) {
  EXPECT_EQ(gpus_of(R"({"environment": {"CUDA_VISIBLE_DEVICES": ""}})"), "");
  EXPECT_EQ(gpus_of(R"({"environment": {"CUDA_VISIBLE_DEVICES": "-1"}})"), "");
  EXPECT_EQ(gpus_of("{}", 1, 0), "") << "the job uses none: it is somebody else's work";
}

}  // namespace machine_series_test
}  // namespace trainscope
