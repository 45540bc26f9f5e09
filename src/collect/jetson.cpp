// jetson: GPU, memory controller and power rails of NVIDIA's Jetson boards.
//
// Source: load of the GPU's folder in /sys/devices, cur_freq of /sys/class/devfreq, the memory
// controller's clock and activity in debugfs and /sys/kernel/actmon_avg_activity, rails of the
// INA3221 chips (vendor's driver on TX2 and Xavier, hwmon on Orin). Units: thousandths, Hz, kHz,
// milliwatts, millivolts and milliamperes. Permission: none, but root for the memory controller.
// Cost: 50 to 500 µs per rail (an I2C bus), 20 µs for the rest; therefore it has its own thread.
// Caveats: the load is the driver's mean over a few milliseconds, not over our period. Temperatures
// are in the source sensors. GPU and processors share the memory controller.
#include <fcntl.h>

#include "base/clock.h"
#include "collect/collect.h"
#include "collect/support/devices/jetson.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::jetson_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"hw.gpu.utilization", "1", Kind::gauge, "gpu", "Share of time in which the GPU was busy",
     in_info(601)},
    {"hw.gpu.clock", "Hz", Kind::gauge, "clock, gpu", "Clocks of the GPU and of its memory"},
    {"hw.gpu.memory.controller.utilization", "1", Kind::gauge, "gpu",
     "Share of time in which the memory controller was busy"},
    {"hw.power", "W", Kind::gauge, "sensor", "Power by rail", in_info(502).unless_idle()},
};

constexpr int64_t kGpuFullLoad = 1000;
constexpr const char* kEmcFolder = "/sys/kernel/debug/bpmp/debug/clk/emc";
constexpr const char* kDebugRemedy = "run as root: the memory controller is in debugfs";

class JetsonSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    const std::string& root = context.root;
    load_.close();
    clock_.close();
    emc_rate_.close();
    emc_activity_.close();
    rails_.clear();
    Opened opened;
    const Labels gpu = {{"gpu", "0"}};
    const std::string load = jetson_gpu_load(root);
    const bool here = !load.empty() || is_jetson(root);
    if (!load.empty() && load_.open(load, 64)) {
      opened.columns.push_back({"hw.gpu.utilization", gpu, {1, kGpuFullLoad}});
    } else {
      opened.missing.push_back({"hw.gpu.utilization",
                                here ? "the GPU's driver shows no load in /sys/devices" : kNoJetson,
                                ""});
    }
    if (here) open_clocks(root, opened);
    if (!clock_.is_open() && !emc_rate_.is_open()) {
      opened.missing.push_back(
          {"hw.gpu.clock", here ? "/sys/class/devfreq does not show the GPU" : kNoJetson, ""});
    }
    if (!emc_activity_.is_open()) {
      opened.missing.push_back({"hw.gpu.memory.controller.utilization",
                                here ? why_no_emc(root) : kNoJetson, here ? kDebugRemedy : ""});
    }
    open_rails(root, here, opened);
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    size_t at = 0;
    if (load_.is_open()) {
      int64_t load = 0;
      const bool known = load_.read_number(load) && load >= 0 && load <= kGpuFullLoad;
      values[at++] = known ? load : kAbsent;
    }
    if (clock_.is_open()) values[at++] = positive(clock_);
    const int64_t emc_hz = emc_rate_.is_open() ? positive(emc_rate_) : kAbsent;
    if (emc_rate_.is_open()) values[at++] = emc_hz;
    if (emc_activity_.is_open()) values[at++] = emc_share(emc_hz);
    for (Rail& rail : rails_) values[at++] = rail.read();
    return Sampled::ok;
  }

 private:
  struct Rail {
    ProcFile first, second;  // power; or voltage and current
    int64_t read() {
      int64_t a = 0, b = 0;
      if (!first.read_number(a) || a < 0) return kAbsent;
      if (!second.is_open()) return a;
      if (!second.read_number(b) || b < 0 || a > INT32_MAX || b > INT32_MAX) return kAbsent;
      return a * b;
    }
  };

  static int64_t positive(ProcFile& file) {
    int64_t value = 0;
    return file.read_number(value) && value >= 0 ? value : kAbsent;
  }

  // Activity is in kHz of the controller's clock, in Hz: millionths of it.
  int64_t emc_share(int64_t emc_hz) {
    const int64_t active_khz = positive(emc_activity_);
    if (active_khz == kAbsent || emc_hz == kAbsent || emc_hz < 1000) return kAbsent;
    const int64_t emc_khz = emc_hz / 1000;
    return active_khz > emc_khz ? kAbsent : active_khz * 1'000'000 / emc_khz;
  }

  void open_clocks(const std::string& root, Opened& opened) {
    const std::string devfreq = jetson_gpu_devfreq(root);
    if (!devfreq.empty() && clock_.open(devfreq + "/cur_freq", 64)) {
      opened.columns.push_back({"hw.gpu.clock", {{"clock", "sm"}, {"gpu", "0"}}, {}});
    }
    for (const std::string& path :
         {root + kEmcFolder + "/rate", root + "/sys/kernel/debug/clk/emc/clk_rate"}) {
      if (!emc_rate_.is_open()) (void)emc_rate_.open(path, 64);
    }
    if (!emc_rate_.is_open()) return;
    opened.columns.push_back({"hw.gpu.clock", {{"clock", "memory"}, {"gpu", "0"}}, {}});
    for (const std::string& path : {root + "/sys/kernel/actmon_avg_activity/mc_all",
                                    root + "/sys/kernel/debug/cactmon/mc_all"}) {
      if (!emc_activity_.is_open()) (void)emc_activity_.open(path, 64);
    }
    if (!emc_activity_.is_open()) return;
    opened.columns.push_back(
        {"hw.gpu.memory.controller.utilization", {{"gpu", "0"}}, {1, 1'000'000}});
  }

  std::string why_no_emc(const std::string& root) const {
    if (emc_rate_.is_open()) return "the kernel does not count the memory controller's activity";
    const auto opened = open_file(root + kEmcFolder + "/rate", O_RDONLY);
    return opened ? "not readable" : read_error_text(kEmcFolder, opened.error());
  }

  void open_rails(const std::string& root, bool here, Opened& opened) {
    for (const JetsonRail& rail : jetson_rails(root)) {
      Rail files;
      const bool direct = !rail.power.empty();
      if (!files.first.open(direct ? rail.power : rail.voltage, 64)) continue;
      if (!direct && !files.second.open(rail.current, 64)) continue;
      opened.columns.push_back(
          {"hw.power", {{"sensor", rail.name}}, {1, direct ? 1000 : 1'000'000}});
      rails_.push_back(std::move(files));
    }
    if (!rails_.empty()) return;
    opened.missing.push_back(
        {"hw.power", here ? "no readable INA3221 power monitor" : kNoJetson, ""});
  }

  ProcFile load_, clock_, emc_rate_, emc_activity_;
  std::vector<Rail> rails_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "jetson",
    .summary = "GPU load, clocks and power rails of a Jetson board",
    .needs = "/sys/devices/gpu.0/load or similar; root for the memory controller",
    .scope = Scope::machine,
    .pace = Pace::thread,
    .period_ns = 100'000'000,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<JetsonSource>()); },
};

}  // namespace trainscope::jetson_collector
