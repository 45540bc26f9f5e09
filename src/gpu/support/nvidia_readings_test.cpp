#include "gpu/support/nvidia_readings.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace nvidia_readings_test {

constexpr unsigned kProcesses = 300;

// A driver with samples of so many processes, each at 1 % of the SMs.
nvml::Return many_samples(nvml::Device, nvml::ProcessSample* samples, unsigned* count,
                          unsigned long long) {
  const unsigned space = std::exchange(*count, kProcesses);
  if (space < kProcesses) return nvml::kInsufficientSize;
  for (unsigned i = 0; i < kProcesses; ++i) samples[i] = {1000 + i, 5, 1, 0, 0, 0};
  return nvml::kSuccess;
}

TEST(JobOnGpu, counts_all_processes_of_the_job) {
  nvml::Library library;
  library.process_samples = many_samples;
  JobOnGpu job(library, nullptr);
  int64_t percent = 0;
  EXPECT_EQ(job.sm_share({1001, 1200, 1299, 9999}, percent), nvml::kSuccess);
  EXPECT_EQ(percent, 3);
}

}  // namespace nvidia_readings_test
}  // namespace trainscope
