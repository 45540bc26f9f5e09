// network: bytes received and sent by every network interface.
//
// Source: /sys/class/net/X/statistics/{rx,tx}_bytes for up to four interfaces, /proc/net/dev for
// more. Units: bytes. Permission: none. Cost: 0.5 µs per file, two per interface; 3 µs and more for
// the table. Interfaces are listed again every 100 samples, 3 µs. Caveats: interfaces that are down
// are omitted until they come up. lo is included: ranks on one machine may communicate over it. A
// bridge, bond or VLAN counts the bytes of the interfaces below it again. RDMA traffic bypasses
// these counters.
#include <algorithm>

#include "collect/collect.h"
#include "collect/support/devices/interfaces.h"
#include "collect/support/missing.h"

namespace trainscope::network_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.network.io", "By", Kind::counter, "device, direction", "Bytes received and sent",
     in_info(307).unless_idle()},
};

constexpr int kRescanSamples = 100;
constexpr size_t kMostFiles = 4;

class NetworkSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    names_.clear();
    files_.clear();
    table_.close();
    samples_ = 0;
    const std::string& root = context.root;
    interfaces_.open(root);
    const bool by_file = interfaces_.names().size() <= kMostFiles && open_files(root);
    if (!by_file) {
      const std::string path = "/proc/net/dev";
      if (Status status = table_.open(root + path, 64 * 1024); !status) {
        return all_missing(kMetrics, read_error_text(path, status.error()), kMountProc);
      }
      names_ = interfaces_.names();
    }
    if (names_.empty()) return all_missing(kMetrics, "no network interface is up", "");
    Opened opened;
    for (const std::string& name : names_) {
      for (const char* direction : {"receive", "transmit"}) {
        opened.columns.push_back(
            {"system.network.io", {{"device", name}, {"direction", direction}}, {}});
      }
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    std::fill(values.begin(), values.end(), kAbsent);
    const bool complete = table_.is_open() ? sample_table(values) : sample_files(values);
    if (++samples_ < kRescanSamples) return Sampled::ok;
    samples_ = 0;
    // An interface that failed may be back under its old name, with another file.
    return interfaces_.changed() || !complete ? Sampled::layout_changed : Sampled::ok;
  }

 private:
  // False if the files do not exist (no /sys): then the table is used.
  bool open_files(const std::string& root) {
    for (const std::string& name : interfaces_.names()) {
      const std::string folder = root + "/sys/class/net/" + name + "/statistics/";
      ProcFile receive;
      ProcFile transmit;
      if (!receive.open(folder + "rx_bytes", 64) || !transmit.open(folder + "tx_bytes", 64)) {
        continue;
      }
      files_.push_back(std::move(receive));
      files_.push_back(std::move(transmit));
      names_.push_back(name);
    }
    return !names_.empty() || interfaces_.names().empty();
  }

  bool sample_files(std::span<int64_t> values) {
    bool complete = true;
    for (size_t i = 0; i < files_.size(); ++i) complete &= files_[i].read_number(values[i]);
    return complete;
  }

  bool sample_table(std::span<int64_t> values) {
    size_t found = 0;
    Scanner scan(table_.read_all());
    NetDevLine line;
    while (next_net_dev_line(scan, line)) {
      const auto name = std::lower_bound(names_.begin(), names_.end(), line.name);
      if (name == names_.end() || *name != line.name) continue;
      const auto at = static_cast<size_t>(name - names_.begin()) * 2;
      values[at] = line.receive[NetDevLine::bytes];
      values[at + 1] = line.transmit[NetDevLine::bytes];
      ++found;
    }
    return found == names_.size();
  }

  Interfaces interfaces_;
  std::vector<std::string> names_;  // sorted
  std::vector<ProcFile> files_;     // two per name
  ProcFile table_;
  int samples_ = 0;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "network",
    .summary = "bytes received and sent by every network interface",
    .needs = "/sys/class/net or /proc/net/dev",
    .scope = Scope::machine,
    .pace = Pace::tick,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<NetworkSource>()); },
};

}  // namespace trainscope::network_collector
