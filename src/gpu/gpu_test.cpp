// GPUs found in files: a golden listing for each fixture machine that has some.
#include "gpu/gpu.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "base/fd.h"
#include "base/text.h"
#include "gpu/support/file_gpu.h"
#include "testing/test_root.h"

namespace trainscope {

namespace gpu_test {

using testing::HasSubstr;

std::string listing(const std::string& root, const std::vector<pid_t>& job) {
  std::string text;
  for (const GpuVendor* vendor : gpu_vendors()) {
    for (const auto& gpu : vendor->find(root).gpus) {
      text += fmt::format("# {} {}: {}, {} bytes\n", gpu->label, gpu->uuid, gpu->name,
                          gpu->memory_bytes);
      std::vector<int64_t> values(gpu->columns.size(), kAbsent);
      EXPECT_EQ(gpu->read(GpuPace::fast, values, job), GpuHealth::ok);
      EXPECT_EQ(gpu->read(GpuPace::slow, values, job), GpuHealth::ok);
      for (size_t i = 0; i < values.size(); ++i) {
        const GpuColumn& column = gpu->columns[i];
        text += fmt::format("{}{{{}}} = {}\n", column.metric, labels_text(column.labels),
                            values[i] == kAbsent
                                ? std::string("none")
                                : fmt::format("{:.10g}", column.scale.apply(values[i])));
      }
      for (const GpuMissing& missing : gpu->missing) {
        text += fmt::format("missing {}: {}\n", missing.metric, missing.reason);
      }
    }
  }
  return text;
}

class GpuMachine : public testing::TestWithParam<std::string> {};

TEST_P(GpuMachine, gives_the_golden_listing) {
  const std::string got = listing(machine_root(GetParam()), {4242});
  const std::string path =
      std::string(TRAINSCOPE_TEST_DATA) + "/../golden/gpus-" + GetParam() + ".txt";
  if (std::getenv("TRAINSCOPE_REGENERATE") != nullptr) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << got;
    return;
  }
  const auto golden = read_file(path);
  ASSERT_TRUE(golden) << path;
  EXPECT_EQ(*golden, got) << "if this is right, run the test with TRAINSCOPE_REGENERATE=1";
}

INSTANTIATE_TEST_SUITE_P(Gpus, GpuMachine, testing::Values("amd-node", "intel-gpu-node"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(drm_usage, counts_a_client_that_is_open_twice_once) {
  const DrmUsage usage = read_drm_usage(machine_root("amd-node"), {4242}, "0000:03:00.0");
  EXPECT_TRUE(usage.known);
  EXPECT_EQ(usage.memory_bytes, int64_t{4} << 30U);
  EXPECT_EQ(usage.busy_ns, 5'000'000'000);
}

TEST(drm_usage, of_another_device_is_nothing_and_of_nobody_is_unknown) {
  EXPECT_EQ(read_drm_usage(machine_root("amd-node"), {4242}, "0000:04:00.0").memory_bytes, 0);
  EXPECT_FALSE(read_drm_usage(machine_root("amd-node"), {4243}, "0000:03:00.0").known);
}

TEST(gpu_vendors, leave_the_built_in_graphics_of_a_processor_out) {
  EXPECT_THAT(listing(machine_root("intel-gpu-node"), {}), Not(HasSubstr("intel1")));
}

TEST(gpu_vendors, find_an_arc_card_which_is_a_vga_controller) {
  const TestRoot root("intel-gpu-node");
  root.write("/sys/devices/pci0000:00/0000:4d:00.0/class", "0x030000\n");
  EXPECT_THAT(listing(root.path(), {}), HasSubstr("# intel0 intel-0000:4d:00.0"));
  EXPECT_THAT(listing(root.path(), {}), Not(HasSubstr("intel1")));
}

}  // namespace gpu_test

}  // namespace trainscope
