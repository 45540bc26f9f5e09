// Jobs that compute in pools of threads, as TensorFlow does: the main thread is always blocked.
#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace pools_test {

// Threads that read ahead wait for storage half of the time. `other`: the busiest thread next to
// the main one.
PlantedRun in_pools(double other, double user_cores, double kernel_cores) {
  PlantedRun run;
  run.rate("job.cpu.time", {{"mode", "user"}}, user_cores);
  run.rate("job.cpu.time", {{"mode", "system"}}, kernel_cores);
  run.rate("system.cpu.time", {{"cpu", "all"}, {"state", "user"}}, user_cores + kernel_cores);
  run.thread("main", 0.02, 0).thread("busiest", other, 0);
  run.rate("job.disk.io", {{"direction", "read"}}, 100e6);
  run.rate("system.pressure.time", {{"kind", "some"}, {"resource", "io"}}, 0.5);
  return run;
}

double storage_of(const Diagnosis& diagnosis) {
  for (const auto& one : diagnosis.judged) {
    if (one.rule == "input_storage") return one.strength;
  }
  return -1;
}

TEST(Pools, reads_that_a_busy_pool_hides_are_no_input) {
  const Diagnosis one = in_pools(0.97, 1, 0.05).diagnose();
  EXPECT_EQ(one.verdict, "cpu_bound");
  EXPECT_EQ(raised(one), "");
  const Diagnosis all = in_pools(0.6, 1.85, 0.05).diagnose();
  EXPECT_EQ(all.verdict, "cpu_bound") << "threads that take turns fill the cores";
  EXPECT_EQ(raised(all), "");
}

TEST(Pools, a_pool_that_computes_most_of_the_time_leaves_it_open) {
  EXPECT_EQ(in_pools(0.8, 0.85, 0.05).diagnose().verdict, "unknown");
}

TEST(Pools, a_pool_that_waits_for_its_data_is_input_bound) {
  const Diagnosis waiting = in_pools(0.1, 0.15, 0.05).diagnose();
  EXPECT_EQ(waiting.verdict, "input_bound");
  EXPECT_EQ(waiting.cause, "storage");
  EXPECT_NEAR(storage_of(in_pools(0.9, 0.15, 0.9).diagnose()), 0.828, 1e-3)
      << "what the kernel copies for a reading thread is input";
}

TEST(Pools, a_main_thread_that_is_seen_to_read_waits_for_storage_whatever_others_do) {
  PlantedRun run = in_pools(0.97, 1, 0.05);
  run.rate("job.thread.blocked", {{"role", "main"}, {"on", "disk"}}, 0.6);
  EXPECT_NEAR(storage_of(run.diagnose()), 0.92, 1e-9);
}

}  // namespace pools_test
}  // namespace trainscope
