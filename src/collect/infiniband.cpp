// infiniband: ports of InfiniBand, RoCE and EFA adapters.
//
// Source: /sys/class/infiniband/DEVICE/ports/PORT: counters (counters_ext of old drivers, which has
// 64 bits), hw_counters, rate. Units: the data counters are in words of four bytes (InfiniBand
// specification), stored as such; packets, errors, notifications. Permission: none. Cost: 5 to 200
// µs per file, because the driver queries the adapter; therefore it has its own thread. Caveats:
// for a RoCE port only traffic that bypasses the kernel is counted here, the rest is in
// system.network.io. A counter that the adapter lacks is not listed.

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::infiniband_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"ib.io", "By", Kind::counter, "device, direction, port", "Bytes moved by the port"},
    {"ib.packets", "{packet}", Kind::counter, "device, direction, port",
     "Packets moved by the port"},
    {"ib.transmit_wait", "{tick}", Kind::counter, "device, port",
     "Ticks of the adapter's clock in which it had data but could not send"},
    {"ib.errors", "{error}", Kind::counter, "device, port, type",
     "Errors, discards and retries of the port, named as in the driver"},
    {"ib.congestion", "{packet}", Kind::counter, "device, port, type",
     "Congestion notifications of a RoCE port"},
    {"ib.link.rate", "bit/s", Kind::gauge, "device, port", "Negotiated speed of the link"},
};

constexpr const char* kFolder = "/sys/class/infiniband";

// Values of a port. Of several with the same metric and second label the first that exists is used.
struct PortFile {
  const char* metric;
  const char* label;  // direction or type; null for none
  const char* value;
  const char* path;
  int64_t scale;
};
constexpr PortFile kFiles[] = {
    {"ib.io", "direction", "receive", "counters_ext/port_rcv_data_64", 4},
    {"ib.io", "direction", "receive", "counters/port_rcv_data", 4},
    {"ib.io", "direction", "receive", "hw_counters/rx_bytes", 1},
    {"ib.io", "direction", "transmit", "counters_ext/port_xmit_data_64", 4},
    {"ib.io", "direction", "transmit", "counters/port_xmit_data", 4},
    {"ib.io", "direction", "transmit", "hw_counters/tx_bytes", 1},
    {"ib.packets", "direction", "receive", "counters_ext/port_rcv_packets_64", 1},
    {"ib.packets", "direction", "receive", "counters/port_rcv_packets", 1},
    {"ib.packets", "direction", "receive", "hw_counters/rx_pkts", 1},
    {"ib.packets", "direction", "transmit", "counters_ext/port_xmit_packets_64", 1},
    {"ib.packets", "direction", "transmit", "counters/port_xmit_packets", 1},
    {"ib.packets", "direction", "transmit", "hw_counters/tx_pkts", 1},
    {"ib.transmit_wait", nullptr, nullptr, "counters/port_xmit_wait", 1},
    {"ib.errors", "type", "symbol_error", "counters/symbol_error", 1},
    {"ib.errors", "type", "link_error_recovery", "counters/link_error_recovery", 1},
    {"ib.errors", "type", "link_downed", "counters/link_downed", 1},
    {"ib.errors", "type", "port_rcv_errors", "counters/port_rcv_errors", 1},
    {"ib.errors", "type", "port_xmit_discards", "counters/port_xmit_discards", 1},
    {"ib.errors", "type", "local_link_integrity", "counters/local_link_integrity_errors", 1},
    {"ib.errors", "type", "out_of_sequence", "hw_counters/out_of_sequence", 1},
    {"ib.errors", "type", "packet_seq_err", "hw_counters/packet_seq_err", 1},
    {"ib.errors", "type", "local_ack_timeout_err", "hw_counters/local_ack_timeout_err", 1},
    {"ib.errors", "type", "rnr_nak_retry_err", "hw_counters/rnr_nak_retry_err", 1},
    {"ib.errors", "type", "out_of_buffer", "hw_counters/out_of_buffer", 1},
    {"ib.errors", "type", "rx_drops", "hw_counters/rx_drops", 1},
    {"ib.congestion", "type", "cnp_sent", "hw_counters/np_cnp_sent", 1},
    {"ib.congestion", "type", "cnp_handled", "hw_counters/rp_cnp_handled", 1},
    {"ib.congestion", "type", "ecn_marked", "hw_counters/np_ecn_marked_roce_packets", 1},
};

// "100 Gb/sec (4X EDR)" as megabits; kAbsent when it is not such a text.
int64_t link_megabits(std::string_view text) {
  const auto words = fields(trim(text));
  if (words.size() < 2 || words[1] != "Gb/sec") return kAbsent;
  const auto gigabits = parse_number(words[0]);
  if (!gigabits || !(*gigabits >= 0) || *gigabits > 1e6) return kAbsent;
  return static_cast<int64_t>(*gigabits * 1000);
}

class InfinibandSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    files_.clear();
    const std::string folder = context.root + kFolder;
    const auto devices = list_folder(folder);
    if (!devices || devices->empty()) {
      return all_missing(kMetrics, "no InfiniBand or RoCE adapter in " + std::string(kFolder), "");
    }
    Opened opened;
    for (const std::string& device : *devices) {
      const auto ports = list_folder(folder + "/" + device + "/ports");
      if (!ports) continue;
      for (const std::string& port : *ports) {
        add_port(folder + "/" + device + "/ports/" + port, device, port, opened);
      }
    }
    for (const MetricSpec& spec : kMetrics) {
      const bool there = std::any_of(opened.columns.begin(), opened.columns.end(),
                                     [&](const Column& it) { return it.metric == spec.name; });
      if (!there) opened.missing.push_back({spec.name, "not reported by the adapter's driver", ""});
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    for (size_t i = 0; i < files_.size(); ++i) {
      int64_t value = 0;
      if (files_[i].is_rate) {
        values[i] = link_megabits(files_[i].file.read());
      } else {
        const bool known = files_[i].file.read_number(value) && value >= 0;
        values[i] = known ? value : kAbsent;
      }
    }
    return Sampled::ok;
  }

 private:
  struct File {
    ProcFile file;
    bool is_rate = false;
  };

  void add_port(const std::string& folder, const std::string& device, const std::string& port,
                Opened& opened) {
    const std::string device_label = label_value(device), port_label = label_value(port);
    const PortFile* last = nullptr;
    for (const PortFile& wanted : kFiles) {
      if (last != nullptr && is_same(*last, wanted)) continue;
      ProcFile file;
      int64_t probe = 0;
      // Some drivers show files that cannot be read on this kind of port.
      if (!file.open(folder + "/" + wanted.path, 64) || !file.read_number(probe)) continue;
      Labels labels = {{"device", device_label}, {"port", port_label}};
      if (wanted.label != nullptr) labels.emplace_back(wanted.label, wanted.value);
      std::sort(labels.begin(), labels.end());
      opened.columns.push_back({wanted.metric, labels, {wanted.scale, 1}});
      files_.push_back({std::move(file), false});
      last = &wanted;
    }
    ProcFile rate;
    if (!rate.open(folder + "/rate", 64)) return;
    opened.columns.push_back(
        {"ib.link.rate", {{"device", device_label}, {"port", port_label}}, {1'000'000, 1}});
    files_.push_back({std::move(rate), true});
  }

  static bool is_same(const PortFile& a, const PortFile& b) {
    return a.metric == std::string_view(b.metric) && a.value != nullptr && b.value != nullptr &&
           a.value == std::string_view(b.value);
  }

  std::vector<File> files_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "infiniband",
    .summary = "traffic, errors and congestion of InfiniBand and RoCE ports",
    .needs = "/sys/class/infiniband",
    .scope = Scope::machine,
    .pace = Pace::thread,
    .period_ns = kNsPerSecond,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<InfinibandSource>()); },
};

}  // namespace trainscope::infiniband_collector
