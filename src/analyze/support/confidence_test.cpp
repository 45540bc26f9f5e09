#include "analyze/support/confidence.h"

#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace confidence_test {

TEST(Confidence, never_decreases_with_the_score) {
  double before = 0;
  for (int i = 0; i <= 100; ++i) {
    const double confidence = confidence_of(i / 100.0);
    EXPECT_GE(confidence, before) << i;
    EXPECT_LE(confidence, 1) << i;
    before = confidence;
  }
  EXPECT_EQ(confidence_of(0), 0);
  EXPECT_GT(confidence_of(0.97), 0.9);
}

// 29 % of the CPU time in the kernel fits a job that opens small files and one that computes.
TEST(Confidence, of_two_that_are_almost_as_likely_neither_is_the_verdict) {
  const auto job = [](double system_cores) {
    PlantedRun run;
    run.cpu(1 - system_cores, 1)
        .rate("job.cpu.time", {{"mode", "system"}}, system_cores)
        .thread("main", 1, 0);
    run.rate("job.io.calls", {{"direction", "read"}}, 129e3);
    return run.rate("job.io.bytes", {{"direction", "read"}}, 190e6).diagnose();
  };
  const Diagnosis even = job(0.29);
  EXPECT_EQ(even.verdict, "unknown");
  ASSERT_EQ(even.alternatives.size(), 2U);
  EXPECT_EQ(even.alternatives[0].verdict, "cpu_bound");
  EXPECT_EQ(even.alternatives[1].verdict, "input_bound");
  EXPECT_EQ(job(0.1).verdict, "cpu_bound");
  EXPECT_EQ(job(0.45).verdict, "input_bound");
}

}  // namespace confidence_test
}  // namespace trainscope
