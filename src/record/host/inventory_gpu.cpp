// GPUs found in files: /proc/driver/nvidia and the PCI devices of /sys. Memory and other values
// that only a driver's library provides come from the GPU source.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/fd.h"
#include "base/pci.h"
#include "base/text.h"
#include "record/host/inventory.h"

namespace trainscope {

namespace {

constexpr std::string_view kNvidia = "0x10de";
constexpr std::string_view kAmd = "0x1002";
constexpr std::string_view kIntel = "0x8086";

struct PciDevice {
  std::string address, vendor, device, device_class;
  std::optional<int64_t> memory_bytes;
  std::optional<std::string> name;
};

std::vector<PciDevice> display_devices(const std::string& root) {
  std::vector<PciDevice> found;
  const std::string folder = root + "/sys/bus/pci/devices";
  for (const std::string& address : names_in(folder)) {
    const std::string place = folder + "/" + address + "/";
    const std::string device_class = first_line(place + "class").value_or("");
    // 0x03: display; 0x1200: processing accelerator, as some data-centre parts call themselves
    if (!device_class.starts_with("0x03") && !device_class.starts_with("0x1200")) continue;
    found.push_back({address, first_line(place + "vendor").value_or(""),
                     first_line(place + "device").value_or(""), device_class,
                     number_in(place + "mem_info_vram_total"), first_line(place + "product_name")});
  }
  return found;
}

// Which of them compute: a server's console (ASPEED, bochs, virtio) and Intel's built-in do not
// count.
bool computes(const PciDevice& device) {
  if (device.vendor == kNvidia || device.vendor == kAmd) return true;
  return device.vendor == kIntel && !is_intel_processor_graphics(device.address);
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 …"
std::optional<std::string> nvidia_driver(const std::string& root) {
  const auto line = first_line(root + "/proc/driver/nvidia/version");
  if (!line) return std::nullopt;
  for (const std::string_view word : fields(*line)) {
    const bool numbers = word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (numbers && word.find('.') != std::string_view::npos) return std::string(word);
  }
  return std::nullopt;
}

OrderedJson nvidia_gpu(const std::string& information) {
  OrderedJson gpu;
  gpu["uuid"] = nullptr;
  gpu["name"] = or_null(value_of(information, "Model", ':'));
  // "GPU-????????-????-…": what an unprivileged container sees is not an identity.
  const auto uuid = value_of(information, "GPU UUID", ':');
  if (uuid && uuid->find('?') == std::string::npos) gpu["uuid"] = *uuid;
  gpu["memory_bytes"] = nullptr;
  gpu["vendor"] = "nvidia";
  return gpu;
}

std::string_view vendor_name(const PciDevice& device) {
  if (device.vendor == kNvidia) return "nvidia";
  return device.vendor == kAmd ? "amd" : "intel";
}

}  // namespace

void add_gpus(OrderedJson& host, const std::string& root) {
  OrderedJson gpus = OrderedJson::array();
  const auto add = [&](const OrderedJson& gpu, const std::string& address) {
    OrderedJson numbered = {{"index", gpus.size()}};
    numbered.update(gpu);
    numbered["pci"] = address;
    gpus.push_back(std::move(numbered));
  };
  // The driver numbers its devices in order of their bus addresses, which is how the names sort.
  const std::string folder = root + "/proc/driver/nvidia/gpus";
  const std::vector<std::string> known = names_in(folder);
  for (const std::string& address : known) {
    add(nvidia_gpu(read_beginning(folder + "/" + address + "/information").value_or("")), address);
  }
  OrderedJson displays = OrderedJson::array();
  for (const PciDevice& device : display_devices(root)) {
    displays.push_back({{"pci", device.address},
                        {"vendor", device.vendor},
                        {"device", device.device},
                        {"class", device.device_class}});
    const bool listed = std::find(known.begin(), known.end(), device.address) != known.end();
    if (listed || !computes(device)) continue;
    add({{"uuid", nullptr},
         {"name", or_null(device.name)},
         {"memory_bytes", or_null(device.memory_bytes)},
         {"vendor", vendor_name(device)}},
        device.address);
  }
  host["gpus"] = std::move(gpus);
  host["gpu_driver"] = or_null(nvidia_driver(root));
  host["display_devices"] = std::move(displays);
}

}  // namespace trainscope
