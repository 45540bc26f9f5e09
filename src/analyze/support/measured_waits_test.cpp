// Waiting for block I/O as the kernel measures it (kernel.task_delayacct), next to the states in
// which threads were seen.
#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace measured_waits_test {

// `seen`: share of the time in which the main thread was seen to wait for storage.
PlantedRun reading(double seen, double local_bytes, double all_bytes) {
  PlantedRun run;
  run.cpu(0.2, 0.25).thread("main", 0.2, 0);
  run.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, seen);
  run.rate("job.io.bytes", {{"direction", "read"}}, all_bytes);
  run.rate("job.disk.io", {{"direction", "read"}}, local_bytes);
  return run;
}

Diagnosis measured(PlantedRun run, double delay) {
  return run.rate("job.thread.delay", {{"role", "main"}}, delay).diagnose();
}

TEST(MeasuredWaits, waits_that_no_sample_met_are_input) {
  const PlantedRun run = reading(0.02, 200e6, 200e6);
  EXPECT_EQ(run.diagnose().verdict, "unknown");
  const Diagnosis d = measured(run, 0.6);
  EXPECT_EQ(d.verdict, "input_bound");
  EXPECT_EQ(d.cause, "storage");
  ASSERT_FALSE(d.findings.empty());
  EXPECT_TRUE(d.findings[0].summary.ends_with("waits for it about 60 % of the time"))
      << d.findings[0].summary;
  EXPECT_EQ(measured(run, 0.05).verdict, "unknown");
  EXPECT_NE(measured(reading(0.02, 0, 200e6), 0.6).verdict, "input_bound") << "nothing is read";
}

TEST(MeasuredWaits, a_state_that_is_not_waiting_for_a_local_disk_counts_half) {
  const PlantedRun local = reading(0.3, 200e6, 200e6);
  EXPECT_EQ(local.diagnose().verdict, "input_bound");
  EXPECT_EQ(measured(local, 0.01).verdict, "unknown");
  EXPECT_EQ(measured(local, 0).verdict, "input_bound") << "it may not be measured at all";
  EXPECT_EQ(measured(reading(0.3, 200e6, 600e6), 0.01).verdict, "input_bound")
      << "not every file system waits where it is measured";
}

TEST(MeasuredWaits, a_mount_is_judged_as_without_them) {
  const Diagnosis d = reading(0.8, 0, 16e6).diagnose();
  EXPECT_EQ(d.cause, "network_storage");
  for (const double delay : {0.0, 0.01}) {
    const Diagnosis known = measured(reading(0.8, 0, 16e6), delay);
    EXPECT_EQ(known.cause, d.cause);
    EXPECT_EQ(known.confidence, d.confidence);
  }
}

PlantedRun loading(double running, double delay) {
  PlantedRun run;
  run.cpu(0.3, 0.35).thread("main", 0.1, 0).thread("worker0", running, 0);
  run.rate("job.disk.io", {{"direction", "read"}}, 100e6);
  run.rate("job.thread.delay", {{"role", "main"}}, 0);
  return run.rate("job.thread.delay", {{"role", "worker0"}}, delay);
}

TEST(MeasuredWaits, a_worker_that_waits_for_storage_is_input) {
  const Diagnosis d = loading(0.2, 0.75).diagnose();
  EXPECT_EQ(d.verdict, "input_bound");
  EXPECT_EQ(d.cause, "storage");
  EXPECT_NE(loading(0.2, 0).diagnose().verdict, "input_bound");
  EXPECT_NE(loading(0.05, 0.5).diagnose().verdict, "input_bound") << "it has time to read ahead";
}

TEST(MeasuredWaits, they_tell_why_a_job_waits_that_reports_it) {
  const auto cause = [](double delay) {
    PlantedRun run = reading(0.02, 200e6, 200e6);
    run.steps(0.7);
    return measured(run, delay).cause;
  };
  EXPECT_EQ(cause(0.6), "storage");
  EXPECT_EQ(cause(0), "");
  EXPECT_EQ(loading(0.2, 0.75).steps(0.7).diagnose().cause, "storage") << "its worker waits";
}

TEST(MeasuredWaits, waits_for_writes_are_saving) {
  const auto verdict = [](double delay) {
    PlantedRun run;
    run.cpu(0.4, 0.45).thread("main", 0.4, 0);
    run.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.02);
    run.rate("job.disk.io", {{"direction", "read"}}, 0);
    run.rate("job.disk.io", {{"direction", "write"}}, 50e6);
    return measured(run, delay).verdict;
  };
  EXPECT_EQ(verdict(0.5), "checkpoint_bound");
  EXPECT_EQ(verdict(0), "unknown");
}

}  // namespace measured_waits_test
}  // namespace trainscope
