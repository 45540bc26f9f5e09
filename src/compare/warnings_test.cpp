#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/planted_sides.h"

namespace trainscope {
namespace warnings_test {

using testing::HasSubstr;
using testing::Not;

// What the warnings of a pair of runs are when B is changed.
class WarningsTest : public testing::Test {
 protected:
  WarningsTest() : a_(home_.add("a", {.seed = 1})), b_(home_.add("b", {.seed = 2})) {}

  std::string warnings() {
    const auto comparison = home_.compare({"a"}, {"b"});
    EXPECT_TRUE(comparison);
    std::string text;
    for (const auto& [id, summary] : comparison->warnings) text += id + ": " + summary + "\n";
    return text;
  }
  static void add_level(FakeRun& run, const std::string& metric, const Labels& labels,
                        double value) {
    run.add(metric, labels, Kind::gauge, {0, 10, 20, 30, 40}, std::vector<double>(5, value));
  }
  static void add_rate(FakeRun& run, const std::string& metric, const Labels& labels,
                       double per_s) {
    run.add(metric, labels, Kind::counter, {0, 20, 40, 60},
            {0, 20 * per_s, 40 * per_s, 60 * per_s});
  }
  // Of the job and of all: shares of the time, and bytes.
  static void add_gpu_use(FakeRun& run, const char* gpu, double own_time, double time, double own,
                          double bytes) {
    add_level(run, "hw.gpu.utilization", {{"gpu", gpu}}, time);
    add_level(run, "hw.gpu.memory.usage", {{"gpu", gpu}}, bytes);
    add_level(run, "job.gpu.memory.usage", {{"gpu", gpu}}, own);
    add_level(run, "job.gpu.sm_utilization", {{"gpu", gpu}}, own_time);
  }

  PlantedHome home_;
  FakeRun &a_, &b_;
};

TEST_F(WarningsTest, equal_runs_only_lack_repeats) {
  EXPECT_EQ(warnings(),
            "few_repeats: one run on a side: how much repeats vary is unknown; try trainscope run "
            "--repeat 5\n");
}

TEST_F(WarningsTest, few_times_of_steps) {
  home_.add("rare", {.seed = 3, .step_s = 10, .steps = 5});
  home_.add("often", {.seed = 4, .step_s = 1, .steps = 50});
  const auto ids = [&](const char* a, const char* b) {
    const auto comparison = home_.compare({a}, {b});
    EXPECT_TRUE(comparison);
    return warning_ids(*comparison);
  };
  EXPECT_THAT(ids("a", "rare"), HasSubstr("few_times"));
  EXPECT_THAT(ids("a", "often"), Not(HasSubstr("few_times"))) << "a difference is seen";
}

TEST_F(WarningsTest, host_and_hardware) {
  b_.own_manifest().host_name = "node2";
  b_.set_host(R"({"threads": 2, "cpu_model": "a faster processor"})");
  EXPECT_THAT(warnings(), HasSubstr("host: different hosts: node1 in A, node2 in B"));
  EXPECT_THAT(warnings(), HasSubstr("hardware: different hardware: a processor in A"));
}

TEST_F(WarningsTest, versions) {
  a_.set_host(R"({"software": {"packages": {"torch": "2.1"}}})");
  b_.set_host(R"({"software": {"packages": {"torch": "2.3", "jax": "0.4"}}})");
  EXPECT_THAT(warnings(),
              HasSubstr("software: different versions: jax none → 0.4, torch 2.1 → 2.3"));
}

TEST_F(WarningsTest, versions_of_all_repeats) {
  for (FakeRun* run : {&a_, &b_}) run->set_host(R"({"software": {"packages": {"torch": "2.1"}}})");
  home_.add("b2", {.seed = 3}).set_host(R"({"software": {"packages": {"torch": "2.3"}}})");
  const auto comparison = home_.compare({"a"}, {"b", "b2"});
  ASSERT_TRUE(comparison);
  EXPECT_THAT(warning_ids(*comparison), HasSubstr("software "));
  EXPECT_THAT(comparison->warnings[0].summary, HasSubstr("torch 2.1 → 2.1, 2.3"));
}

TEST_F(WarningsTest, hostile_inventories_are_no_error) {
  a_.set_host(R"({"software": [], "gpus": {"a": 1}, "threads": "two", "cpu_model": 5})");
  b_.set_host("not JSON");
  EXPECT_THAT(warnings(), HasSubstr("few_repeats"));
}

TEST_F(WarningsTest, what_is_unknown_of_a_run_is_not_different) {
  a_.set_host(
      R"({"kernel": "6.1", "cpu_model": "a processor", "software": {"packages": {"torch": "2.1"}}})");
  b_.set_host("{}");
  b_.own_manifest().host_name = "";
  EXPECT_THAT(warnings(), Not(HasSubstr("host:")));
  EXPECT_THAT(warnings(), Not(HasSubstr("hardware:")));
  EXPECT_THAT(warnings(), Not(HasSubstr("software:")));
}

TEST_F(WarningsTest, batch_size) {
  home_.add("a", {.seed = 1, .batch = 32});
  home_.add("b", {.seed = 2, .batch = 64});
  EXPECT_THAT(warnings(), HasSubstr("batch_size: batch size 32 in A, 64 in B"));
}

// Steps of 0.1 s in both; a checkpoint of 5 s after each hundredth of 600 steps.
TEST_F(WarningsTest, pauses_that_the_speed_leaves_out) {
  home_.add("b", {.seed = 2, .checkpoint_s = 5});
  EXPECT_THAT(warnings(), HasSubstr("pauses: with its share of checkpoints and evaluations"));
  home_.add("a", {.seed = 1, .checkpoint_s = 5});
  EXPECT_THAT(warnings(), Not(HasSubstr("pauses:")));
}

TEST_F(WarningsTest, settings_of_the_recording) {
  b_.own_manifest().settings = {{"instrument", "true", "flag"}, {"data", "/data/b", "flag"}};
  EXPECT_THAT(warnings(), HasSubstr("instrument: only B was recorded with --instrument"));
  EXPECT_THAT(warnings(), HasSubstr("data: different --data: none in A, /data/b in B"));
}

TEST_F(WarningsTest, a_setting_of_the_environment_is_the_same_as_the_flag) {
  a_.own_manifest().settings = {{"instrument", "1", "environment"}};
  b_.own_manifest().settings = {{"instrument", "true", "flag"}};
  EXPECT_THAT(warnings(), Not(HasSubstr("instrument:")));
}

TEST_F(WarningsTest, period) {
  FakeRun slow(1, 60);
  slow.own_manifest().host_name = "node1";
  home_.add("b", std::move(slow));
  EXPECT_THAT(warnings(), HasSubstr("period: sampled every 100 ms in A, 1.0 s in B"));
}

TEST_F(WarningsTest, page_cache) {
  for (FakeRun* run : {&a_, &b_}) {
    add_rate(*run, "job.io.bytes", {{"direction", "read"}}, 1e8);
    add_rate(*run, "job.disk.io", {{"direction", "read"}}, run == &a_ ? 1e8 : 0);
  }
  EXPECT_THAT(warnings(),
              HasSubstr("page_cache: 100 % of what the job read came from storage in A, 0 "
                        "% in B"));
}

TEST_F(WarningsTest, clocks_and_throttling) {
  add_level(a_, "hw.gpu.clock", {{"clock", "sm"}, {"gpu", "0"}}, 1.9e9);
  add_level(b_, "hw.gpu.clock", {{"clock", "sm"}, {"gpu", "0"}}, 1.4e9);
  add_rate(a_, "hw.gpu.throttle.time", {{"gpu", "0"}, {"reason", "sw_thermal"}}, 0);
  add_rate(b_, "hw.gpu.throttle.time", {{"gpu", "0"}, {"reason", "sw_thermal"}}, 0.4);
  EXPECT_THAT(warnings(), HasSubstr("clocks: GPU clock 1.9 GHz in A, 1.4 GHz in B"));
  EXPECT_THAT(warnings(), HasSubstr("throttling: throttled for 0 % of the time in A, 40 % in B"));
}

TEST_F(WarningsTest, clocks_and_throttling_of_unused_gpus_do_not_matter) {
  for (FakeRun* run : {&a_, &b_}) {
    const bool is_a = run == &a_;
    add_level(*run, "hw.gpu.utilization", {{"gpu", "0"}}, is_a ? 0.8 : 0.7);
    add_level(*run, "hw.gpu.utilization", {{"gpu", "1"}}, is_a ? 0.9 : 0);
    add_level(*run, "hw.gpu.clock", {{"clock", "sm"}, {"gpu", "0"}}, 1.9e9);
    add_level(*run, "hw.gpu.clock", {{"clock", "sm"}, {"gpu", "1"}}, is_a ? 1.9e9 : 0.3e9);
    add_rate(*run, "hw.gpu.throttle.time", {{"gpu", "1"}, {"reason", "sw_power"}}, is_a ? 0 : 0.9);
  }
  EXPECT_THAT(warnings(), Not(HasSubstr("clocks")));
  EXPECT_THAT(warnings(), Not(HasSubstr("throttling")));
  // The job has memory in the other one: what it did alone does not tell.
  for (FakeRun* run : {&a_, &b_}) add_level(*run, "job.gpu.memory.usage", {{"gpu", "1"}}, 1e9);
  EXPECT_THAT(warnings(), HasSubstr("clocks: GPU clock 1.9 GHz in A, 0.3 GHz in B"));
  EXPECT_THAT(warnings(), HasSubstr("throttling"));
}

TEST_F(WarningsTest, a_quota_throttles_at_most_all_of_the_time) {
  add_rate(b_, "cgroup.cpu.throttled_time", {}, 3.4);
  EXPECT_THAT(warnings(), HasSubstr("throttled for 0 % of the time in A, 100 % in B"));
}

TEST_F(WarningsTest, little_that_is_read_is_not_other_data) {
  add_rate(a_, "job.io.bytes", {{"direction", "read"}}, 20e3);
  add_rate(b_, "job.io.bytes", {{"direction", "read"}}, 90e3);
  EXPECT_THAT(warnings(), Not(HasSubstr("data:")));
}

TEST_F(WarningsTest, much_that_is_read_may_be_other_data) {
  add_rate(a_, "job.io.bytes", {{"direction", "read"}}, 20e6);
  add_rate(b_, "job.io.bytes", {{"direction", "read"}}, 90e6);
  EXPECT_THAT(warnings(), HasSubstr("data: the job reads 1.9"));
}

TEST_F(WarningsTest, energy_of_an_idle_gpu) {
  home_.add("a", {.seed = 1, .gpu_watts = 70});
  home_.add("b", {.seed = 2, .gpu_watts = 300});
  add_level(a_, "hw.gpu.utilization", {{"gpu", "0"}}, 0);
  add_level(b_, "hw.gpu.utilization", {{"gpu", "0"}}, 0.9);
  EXPECT_THAT(warnings(), HasSubstr("energy: the job of A uses no GPU"));
  home_.add("a", {.seed = 1, .gpu_watts = 270});
  EXPECT_THAT(warnings(), Not(HasSubstr("energy: ")));
}

TEST_F(WarningsTest, a_busy_neighbour) {
  add_rate(a_, "job.cpu.time", {{"mode", "user"}}, 1);  // half of two CPUs, all of the load
  EXPECT_THAT(warnings(), Not(HasSubstr("neighbour")));
  add_rate(b_, "job.cpu.time", {{"mode", "user"}}, 0.2);
  EXPECT_THAT(warnings(),
              HasSubstr("neighbour: other programs used 0 % of the machine's CPUs in A, "
                        "40 % in B"));
}

TEST_F(WarningsTest, jobs_of_different_numbers_of_ranks) {
  b_.own_manifest().world_size = 4;
  EXPECT_THAT(warnings(), HasSubstr("ranks: different numbers of ranks: 1 in A, 4 in B"));
  a_.own_manifest().world_size = 4;
  EXPECT_THAT(warnings(), Not(HasSubstr("ranks:")));
  a_.own_manifest().world_size = 1;
  a_.own_manifest().imported_format = "tegrastats";
  EXPECT_THAT(warnings(), Not(HasSubstr("ranks:")));
}

TEST_F(WarningsTest, others_on_the_gpu_of_the_job) {
  constexpr double kGiB = 1UL << 30U;
  // On the second GPU, in which the job has nothing, they do not matter.
  for (FakeRun* run : {&a_, &b_}) add_gpu_use(*run, "1", 0, run == &a_ ? 0 : 0.9, 0, 9 * kGiB);
  add_gpu_use(a_, "0", 0.80, 0.82, 4 * kGiB, 4.5 * kGiB);
  FakeRun alone = b_;
  add_gpu_use(b_, "0", 0.78, 0.80, 4 * kGiB, 4.5 * kGiB);
  EXPECT_THAT(warnings(), Not(HasSubstr("gpu_neighbour")));
  b_ = alone;
  add_gpu_use(b_, "0", 0.50, 0.95, 4 * kGiB, 10 * kGiB);
  EXPECT_THAT(warnings(), HasSubstr("gpu_neighbour: other processes on a GPU of the job: they used "
                                    "2 % of its time in A, 45 % in B; they had 512 MiB of its "
                                    "memory in A, 6.00 GiB in B"));
  for (FakeRun* run : {&a_, &b_}) run->own_manifest().world_size = 2;
  EXPECT_THAT(warnings(), Not(HasSubstr("gpu_neighbour")));
}

TEST_F(WarningsTest, a_run_that_counts_twice) {
  const auto twice = home_.compare({"a", "a"}, {"b"});
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->warnings.front().summary, "run run0000001 is in A twice");
  const auto both = home_.compare({"b"}, {"a", "b"});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->warnings.front().summary, "run run0000002 is on both sides");
}

TEST_F(WarningsTest, runs_that_are_not_whole) {
  a_.set_status(RunStatus::damaged);
  b_.set_status(RunStatus::running);
  EXPECT_THAT(warnings(), HasSubstr("damaged: damaged, read as far as possible: run0000001"));
  EXPECT_THAT(warnings(), HasSubstr("running: still being recorded: run0000002"));
}

TEST_F(WarningsTest, a_run_of_which_a_part_is_damaged) {
  a_.add_gap({1, 2, "the recorder could not run in time"});
  EXPECT_THAT(warnings(), Not(HasSubstr("damaged")));
  b_.add_gap({1, 2, "damaged frame at offset 3", true});
  EXPECT_THAT(warnings(), HasSubstr("damaged: damaged, read as far as possible: run0000002"));
  b_.set_training({});
  EXPECT_EQ(home_.compare({"a"}, {"b"})->speed.reason,
            "B has no steps that can be read: it is damaged");
}

TEST_F(WarningsTest, a_run_whose_steps_were_changed_by_a_probe) {
  b_.own_manifest().tags = {{"probe", "true"}};
  EXPECT_THAT(warnings(), HasSubstr("probe: steps were changed on purpose by probe: run0000002"));
}

}  // namespace warnings_test
}  // namespace trainscope
