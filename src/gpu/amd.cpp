// amd: AMD GPUs, from the files of the amdgpu driver.
//
// Source: /sys/class/drm/cardN/device (gpu_busy_percent, mem_info_vram_*, hwmon) and, for the job,
// /proc/PID/fdinfo. Units: percent, bytes, µW, mC, Hz. Permission: none; own processes for the job.
// Cost: a few µs per file; gpu_busy_percent queries the firmware on some chips. Caveats: throttling
// and link traffic are in the binary gpu_metrics, which is not read.
#include "base/text.h"
#include "gpu/gpu.h"
#include "gpu/support/file_gpu.h"

namespace trainscope::amd_vendor {

namespace {

constexpr std::string_view kAmd = "0x1002";

// The tempN_input whose label this is.
std::string temperature_file(const std::string& hwmon, std::string_view wanted) {
  for (int i = 1; i <= 8; ++i) {
    const std::string stem = hwmon + "/temp" + std::to_string(i);
    const auto name = read_line(stem + "_label");
    if (name && trim(*name) == wanted) return stem + "_input";
  }
  return hwmon + "/none";
}

std::unique_ptr<Gpu> open_card(const std::string& root, const DrmCard& card,
                               const std::string& label) {
  auto gpu = std::make_unique<FileGpu>(root, card.pci_address);
  const std::string& d = card.device;
  const std::string hwmon = hwmon_of(card);
  gpu->label = label;
  gpu->uuid = read_line(d + "/unique_id") ? "amd-" + *read_line(d + "/unique_id")
                                          : "amd-" + card.pci_address;
  if (const auto name = read_line(d + "/product_name")) gpu->name = std::string(trim(*name));
  if (gpu->name.empty()) gpu->name = "AMD GPU";
  if (const auto total = read_line(d + "/mem_info_vram_total")) {
    gpu->memory_bytes = parse_integer(trim(*total)).value_or(-1);
  }
  const Scale percent{1, 100}, one{1, 1}, milli{1, 1000}, micro{1, 1'000'000};
  gpu->add("hw.gpu.utilization", {}, percent, GpuPace::fast, {d + "/gpu_busy_percent"});
  gpu->add("hw.gpu.memory.controller.utilization", {}, percent, GpuPace::fast,
           {d + "/mem_busy_percent"});
  gpu->add("hw.gpu.memory.usage", {}, one, GpuPace::fast, {d + "/mem_info_vram_used"});
  gpu->add("hw.gpu.memory.limit", {}, one, GpuPace::slow, {d + "/mem_info_vram_total"});
  gpu->add("hw.gpu.temperature", {}, milli, GpuPace::fast,
           {temperature_file(hwmon, "edge"), temperature_file(hwmon, "junction"),
            hwmon + "/temp1_input"});
  gpu->add("hw.gpu.memory.temperature", {}, milli, GpuPace::slow, {temperature_file(hwmon, "mem")});
  gpu->add("hw.gpu.power", {}, micro, GpuPace::fast,
           {hwmon + "/power1_average", hwmon + "/power1_input"});
  gpu->add("hw.gpu.energy", {}, micro, GpuPace::slow, {hwmon + "/energy1_input"});
  gpu->add("hw.gpu.clock", {{"clock", "sm"}}, one, GpuPace::fast, {hwmon + "/freq1_input"});
  gpu->add("hw.gpu.clock", {{"clock", "memory"}}, one, GpuPace::fast, {hwmon + "/freq2_input"});
  gpu->add("hw.gpu.fan.speed", {}, {1, 255}, GpuPace::slow, {hwmon + "/pwm1"});
  gpu->add("hw.gpu.pcie.width", {}, one, GpuPace::slow, {d + "/current_link_width"});
  gpu->add_job();
  return gpu;
}

FoundGpus find(const std::string& root) {
  FoundGpus found;
  for (const DrmCard& card : drm_cards(root, kAmd)) {
    found.gpus.push_back(open_card(root, card, "amd" + std::to_string(found.gpus.size())));
  }
  return found;
}

}  // namespace

extern const GpuVendor entry;
const GpuVendor entry = {
    .name = "AMD",
    .find = find,
    .count = [](const std::string& root) { return static_cast<int>(drm_cards(root, kAmd).size()); },
};

}  // namespace trainscope::amd_vendor
