// The CPU pressure of the job's own cgroup, next to that of the machine.
#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace own_pressure_test {

// `some`: a task of the job's cgroup waits for a CPU; `full`: and none of them has one.
PlantedRun& add_own(PlantedRun& run, double some, double full) {
  run.rate("cgroup.pressure.time", {{"kind", "some"}, {"resource", "cpu"}}, some);
  return run.rate("cgroup.pressure.time", {{"kind", "full"}, {"resource", "cpu"}}, full);
}

// A run of two seconds does not know for how long its main thread waited.
PlantedRun on_a_crowded_machine(double job_cores, double machine_cores) {
  PlantedRun run;
  run.cpu(job_cores, machine_cores);
  run.rate("system.pressure.time", {{"kind", "some"}, {"resource", "cpu"}}, 0.9);
  return run;
}

// As --explain names it.
std::string metric_of_crowding(const Diagnosis& diagnosis) {
  for (const auto& one : diagnosis.judged) {
    if (one.rule != "contended") continue;
    for (const auto& seen : one.seen) {
      if (seen.what == "time in which tasks waited for a CPU") return seen.metric;
    }
  }
  return "";
}

TEST(OwnPressure, a_job_whose_own_tasks_do_not_wait_is_not_crowded) {
  PlantedRun filled = on_a_crowded_machine(1.95, 1.97);
  EXPECT_EQ(filled.diagnose().cause, "oversubscribed") << "only the machine is known";
  EXPECT_EQ(metric_of_crowding(filled.diagnose()), "system.pressure.time");
  EXPECT_EQ(add_own(filled, 0.1, 0).diagnose().cause, "all_cores");
  EXPECT_EQ(metric_of_crowding(filled.diagnose()), "cgroup.pressure.time");
  PlantedRun shared = on_a_crowded_machine(0.5, 1.98);
  EXPECT_EQ(shared.diagnose().verdict, "contended") << "only the machine is known";
  EXPECT_NE(add_own(shared, 0.02, 0.01).diagnose().verdict, "contended");
}

TEST(OwnPressure, waiting_for_each_other_is_told_from_waiting_for_others) {
  PlantedRun itself = on_a_crowded_machine(1.95, 1.97);
  EXPECT_EQ(add_own(itself, 0.95, 0.05).diagnose().cause, "oversubscribed");
  PlantedRun held_up = on_a_crowded_machine(1.95, 1.97);
  EXPECT_EQ(add_own(held_up, 0.95, 0.6).diagnose().cause, "all_cores");
}

// The main thread is blocked all the time; its pools compute.
PlantedRun in_pools(double machine_cores, double held_up) {
  PlantedRun run;
  run.cpu(0.9, machine_cores).thread("main", 0.02, 0.01).thread("busiest", 0.5, 0.3);
  return add_own(run, held_up + 0.1, held_up);
}

TEST(OwnPressure, pools_that_strangers_hold_up_are_contended) {
  const Diagnosis d = in_pools(1.98, 0.4).diagnose();
  EXPECT_EQ(d.verdict, "contended");
  ASSERT_FALSE(d.findings.empty());
  EXPECT_EQ(d.findings[0].summary,
            "others use 1.08 of 2 cores, and the job waits for a core 40 % of the time");
  EXPECT_FALSE(d.findings[0].max_speedup) << "what it costs is not known";
  EXPECT_NE(in_pools(1.98, 0.02).diagnose().verdict, "contended");
  EXPECT_NE(in_pools(0.95, 0.4).diagnose().verdict, "contended") << "there are no strangers";
  // A limit counts in this pressure.
  PlantedRun limited = in_pools(1.98, 0.4);
  limited.rate("cgroup.cpu.throttled_time", {}, 0.9);
  EXPECT_EQ(limited.diagnose().verdict, "quota_bound");
}

TEST(OwnPressure, others_of_the_same_cgroup_are_not_seen_in_it) {
  PlantedRun run;
  run.cpu(0.9, 1.98).thread("main", 0.55, 0.4);
  EXPECT_EQ(add_own(run, 0.45, 0).diagnose().verdict, "contended");
}

TEST(OwnPressure, a_limit_that_stops_others_is_not_that_of_the_job) {
  PlantedRun run;
  run.cpu(0.96, 0.98).thread("main", 0.94, 0.01).rate("cgroup.cpu.throttled_time", {}, 0.9);
  EXPECT_EQ(run.diagnose().verdict, "quota_bound") << "only the limit is known";
  EXPECT_EQ(add_own(run, 0.01, 0.01).diagnose().verdict, "cpu_bound");
}

TEST(OwnPressure, a_limit_that_stops_the_job_shows_in_its_pressure) {
  const auto limited = [] {
    PlantedRun run;
    run.cpu(0.5, 0.55).thread("main", 0.5, 0.48).rate("cgroup.cpu.throttled_time", {}, 0.48);
    return run;
  };
  PlantedRun run = limited();
  EXPECT_EQ(add_own(run, 0.48, 0.47).diagnose().verdict, "quota_bound");
  // Kernels before 5.13 have no `full`.
  PlantedRun old = limited();
  old.rate("cgroup.pressure.time", {{"kind", "some"}, {"resource", "cpu"}}, 0.48);
  EXPECT_EQ(old.diagnose().verdict, "quota_bound");
}

}  // namespace own_pressure_test
}  // namespace trainscope
