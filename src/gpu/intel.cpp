// intel: Intel's discrete GPUs, from the files of the i915 and xe drivers.
//
// Source: /sys/class/drm/cardN (clocks), its hwmon (energy, temperature) and, for the job,
// /proc/PID/fdinfo. Units: MHz, µJ, mC. Permission: none; own processes for the job. Caveats: these
// drivers report the utilisation of the whole GPU only as perf events; the job's share is known.
#include "base/pci.h"
#include "base/text.h"
#include "gpu/gpu.h"
#include "gpu/support/file_gpu.h"

namespace trainscope::intel_vendor {

namespace {

constexpr std::string_view kIntel = "0x8086";

std::unique_ptr<Gpu> open_card(const std::string& root, const DrmCard& card,
                               const std::string& label) {
  auto gpu = std::make_unique<FileGpu>(root, card.pci_address);
  const std::string hwmon = hwmon_of(card);
  const std::string& d = card.device;
  gpu->label = label;
  gpu->uuid = "intel-" + card.pci_address;
  gpu->name = "Intel GPU";
  const std::vector<std::string> drm = names_in(d + "/drm");
  const std::string card_folder = drm.empty() ? d : d + "/drm/" + drm.front();
  gpu->add("hw.gpu.clock", {{"clock", "sm"}}, {1'000'000, 1}, GpuPace::fast,
           {d + "/tile0/gt0/freq0/act_freq", card_folder + "/gt/gt0/rps_act_freq_mhz",
            card_folder + "/gt_act_freq_mhz"});
  gpu->add("hw.gpu.energy", {}, {1, 1'000'000}, GpuPace::slow,
           {hwmon + "/energy1_input", hwmon + "/energy2_input"});
  gpu->add("hw.gpu.temperature", {}, {1, 1000}, GpuPace::fast,
           {hwmon + "/temp1_input", hwmon + "/temp2_input"});
  gpu->add("hw.gpu.pcie.width", {}, {1, 1}, GpuPace::slow, {d + "/current_link_width"});
  gpu->add_missing(
      "hw.gpu.utilization",
      "reported by Intel's drivers only as perf events; see job.gpu.sm_utilization for "
      "the job's share");
  gpu->add_missing("hw.gpu.memory.usage", "not reported in a file by Intel's drivers");
  gpu->add_job();
  return gpu;
}

std::vector<DrmCard> discrete_cards(const std::string& root) {
  std::vector<DrmCard> cards = drm_cards(root, kIntel);
  std::erase_if(cards,
                [](const DrmCard& card) { return is_intel_processor_graphics(card.pci_address); });
  return cards;
}

FoundGpus find(const std::string& root) {
  FoundGpus found;
  for (const DrmCard& card : discrete_cards(root)) {
    found.gpus.push_back(open_card(root, card, "intel" + std::to_string(found.gpus.size())));
  }
  return found;
}

}  // namespace

extern const GpuVendor entry;
const GpuVendor entry = {
    .name = "Intel",
    .find = find,
    .count = [](const std::string& root) { return static_cast<int>(discrete_cards(root).size()); },
};

}  // namespace trainscope::intel_vendor
