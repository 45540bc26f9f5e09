// cpu_frequency: the clock of every processor.
//
// Source: /sys/devices/system/cpu/cpuN/cpufreq/scaling_cur_freq. Units: kHz, stored as such.
// Permission: none. Cost: 0.5 to 2 µs per processor, and 1 µs for the list of those online.
// Caveats: on x86 the kernel reports the mean clock since its last check (up to some ms ago),
// elsewhere often the requested clock, not the actual one. One descriptor per processor stays open.
// Most virtual machines do not show it.
#include <algorithm>

#include "base/text.h"
#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::cpu_frequency_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.cpu.frequency", "Hz", Kind::gauge, "cpu", "Clock of each processor"},
};

constexpr const char* kFolder = "/sys/devices/system/cpu";

// The numbers N of the folders cpuN, in numerical order.
std::vector<int64_t> processors(const std::vector<std::string>& names) {
  std::vector<int64_t> numbers;
  for (const std::string& name : names) {
    if (!name.starts_with("cpu")) continue;
    if (const auto number = parse_integer(std::string_view(name).substr(3))) {
      numbers.push_back(*number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

class CpuFrequencySource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    files_.clear();
    const std::string folder = context.root + kFolder;
    const auto names = list_folder(folder);
    if (!names) return all_missing(kMetrics, read_error_text(kFolder, names.error()), kMountSys);
    Opened opened;
    for (const int64_t number : processors(*names)) {
      const std::string cpu = std::to_string(number);
      ProcFile file;
      int64_t khz = 0;
      if (!file.open(folder + "/cpu" + cpu + "/cpufreq/scaling_cur_freq", 64)) continue;
      if (!file.read_number(khz)) continue;  // offline
      files_.push_back(std::move(file));
      opened.columns.push_back({"system.cpu.frequency", {{"cpu", cpu}}, {1000, 1}});
    }
    if (files_.empty()) return missing(context.root);
    online_.close();
    (void)online_.open(folder + "/online",
                       1024);  // without this file processors cannot be hot-plugged
    known_online_ = online_.read();
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    // A processor that went offline and came back has a new file under its old name.
    if (online_.read() != known_online_) return Sampled::layout_changed;
    for (size_t i = 0; i < files_.size(); ++i) {
      int64_t khz = 0;
      values[i] = files_[i].read_number(khz) && khz > 0 ? khz : kAbsent;
    }
    return Sampled::ok;
  }

 private:
  static Opened missing(const std::string& root) {
    if (in_virtual_machine(root)) {
      return all_missing(kMetrics, "this virtual machine does not show the processors' clock", "");
    }
    return all_missing(kMetrics, "no driver for the processors' clock (cpufreq) is loaded",
                       "sudo modprobe acpi-cpufreq");
  }

  std::vector<ProcFile> files_;
  ProcFile online_;
  std::string known_online_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "cpu_frequency",
    .summary = "the clock of every processor",
    .needs = "a cpufreq driver",
    .scope = Scope::machine,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<CpuFrequencySource>()); },
};

}  // namespace trainscope::cpu_frequency_collector
