// network_errors: packets moved, dropped and damaged at every network interface.
//
// Source: /proc/net/dev. Units: packets. Permission: none. Cost: 3 µs and 1 µs of parsing with four
// interfaces; which of them are up is checked every 10 samples, 3 µs. Caveats: drivers differ in
// what they count as dropped; packets for protocols without a receiver are often included.
#include <algorithm>
#include <array>

#include "collect/collect.h"
#include "collect/support/devices/interfaces.h"
#include "collect/support/missing.h"

namespace trainscope::network_errors_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.network.packets", "{packet}", Kind::counter, "device, direction",
     "Packets received and sent"},
    {"system.network.errors", "{error}", Kind::counter, "device, direction",
     "Packets that were damaged or could not be sent"},
    {"system.network.dropped", "{packet}", Kind::counter, "device, direction",
     "Packets dropped because buffers were full or nothing received them"},
};

constexpr int kRescanSamples = 10;

struct Part {
  std::string_view metric;
  NetDevLine::Field field;
};
constexpr std::array<Part, 3> kParts = {{
    {"system.network.packets", NetDevLine::packets},
    {"system.network.errors", NetDevLine::errors},
    {"system.network.dropped", NetDevLine::dropped},
}};

class NetworkErrorsSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    samples_ = 0;
    interfaces_.open(context.root);
    const std::string path = "/proc/net/dev";
    if (Status status = table_.open(context.root + path, 64 * 1024); !status) {
      return all_missing(kMetrics, read_error_text(path, status.error()), kMountProc);
    }
    if (interfaces_.names().empty()) {
      return all_missing(kMetrics, "no network interface is up", "");
    }
    Opened opened;
    for (const std::string& name : interfaces_.names()) {
      for (const Part& part : kParts) {
        for (const char* direction : {"receive", "transmit"}) {
          opened.columns.push_back({part.metric, {{"device", name}, {"direction", direction}}, {}});
        }
      }
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    std::fill(values.begin(), values.end(), kAbsent);
    const auto& names = interfaces_.names();
    Scanner scan(table_.read_all());
    NetDevLine line;
    while (next_net_dev_line(scan, line)) {
      const auto name = std::lower_bound(names.begin(), names.end(), line.name);
      if (name == names.end() || *name != line.name) continue;
      size_t at = static_cast<size_t>(name - names.begin()) * kParts.size() * 2;
      for (const Part& part : kParts) {
        values[at++] = line.receive[part.field];
        values[at++] = line.transmit[part.field];
      }
    }
    if (++samples_ < kRescanSamples) return Sampled::ok;
    samples_ = 0;
    return interfaces_.changed() ? Sampled::layout_changed : Sampled::ok;
  }

 private:
  Interfaces interfaces_;
  ProcFile table_;
  int samples_ = 0;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "network_errors",
    .summary = "packets, errors and drops of every network interface",
    .needs = "/proc/net/dev",
    .scope = Scope::machine,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<NetworkErrorsSource>()); },
};

}  // namespace trainscope::network_errors_collector
