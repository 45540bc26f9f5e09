// Rules about a GPU, judged by runs in which something known happens.
#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace {

// The main thread is busy, the GPU is not.
PlantedRun waiting_gpu(double cores) {
  PlantedRun run;
  run.cpu(cores, cores + 0.05).thread("main", 0.97, 0).level("job.gpu.memory.usage", {}, 1e9);
  run.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.4);
  return run;
}

TEST(Device, a_main_thread_that_reads_prepares_data_and_one_that_does_not_launches) {
  PlantedRun reads = waiting_gpu(1);
  reads.rate("job.io.bytes", {{"direction", "read"}}, 9e6);
  const Diagnosis diagnosis = reads.diagnose();
  EXPECT_EQ(diagnosis.verdict, "input_bound");
  EXPECT_EQ(diagnosis.cause, "decoding");
  ASSERT_FALSE(diagnosis.alternatives.empty());
  EXPECT_EQ(diagnosis.alternatives.front().verdict, "launch_bound");
  PlantedRun launches = waiting_gpu(1);
  launches.rate("job.io.bytes", {{"direction", "read"}}, 1e4);
  EXPECT_EQ(launches.diagnose().verdict, "launch_bound");
}

TEST(Device, a_job_that_computes_on_many_cores_is_not_launch_bound) {
  EXPECT_NE(waiting_gpu(8).diagnose().verdict, "launch_bound");
}

}  // namespace
}  // namespace trainscope
