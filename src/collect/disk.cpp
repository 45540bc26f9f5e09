// disk: bytes read and written by every block device, and the time they took.
//
// Source: /sys/block/X/stat of whole devices (no partitions, no loop, ram and zram devices, none of
// size 0). Units: sectors of 512 bytes and milliseconds, stored as such. Permission: none. Cost: 1
// µs per device; the folder is listed again every 100 samples, 3 µs. Caveats: the milliseconds have
// 32 bits in the kernel and wrap (queue_time after hours); wrapping is corrected. A request of a dm
// or md device is counted again at the devices below it. operation_time is the sum over requests,
// queue_time as well but including those in flight; io_time is the time with at least one in
// flight.
#include <algorithm>
#include <array>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/folder_watch.h"
#include "kernel/proc_file.h"
#include "kernel/unwrap.h"

namespace trainscope::disk_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.disk.io", "By", Kind::counter, "device, direction", "Bytes read and written",
     in_info(306).unless_idle()},
    {"system.disk.operations", "{operation}", Kind::counter, "device, direction",
     "Finished requests"},
    {"system.disk.operation_time", "s", Kind::counter, "device, direction",
     "Time of requests, summed over requests"},
    {"system.disk.io_time", "s", Kind::counter, "device",
     "Time with at least one request in flight"},
    {"system.disk.queue_time", "s", Kind::counter, "device",
     "Time in the queue and in flight, summed over requests"},
};

constexpr int kRescanSamples = 100;
constexpr Scale kSectors{512, 1};
constexpr Scale kMilliseconds{1, 1000};
constexpr size_t kFields = 11;

// One stored column: the metric, its direction, the field of the stat file.
struct Part {
  std::string_view metric;
  const char* direction;  // null: none
  size_t field;
  Scale scale;
};
constexpr std::array<Part, 8> kParts = {{
    {"system.disk.io", "read", 2, kSectors},
    {"system.disk.io", "write", 6, kSectors},
    {"system.disk.operations", "read", 0, {}},
    {"system.disk.operations", "write", 4, {}},
    {"system.disk.operation_time", "read", 3, kMilliseconds},
    {"system.disk.operation_time", "write", 7, kMilliseconds},
    {"system.disk.io_time", nullptr, 9, kMilliseconds},
    {"system.disk.queue_time", nullptr, 10, kMilliseconds},
}};

struct Disk {
  ProcFile stat;
  // One a part; those that are not milliseconds never wrap in practice.
  std::vector<Unwrap> unwrap{kParts.size(), Unwrap(int64_t{1} << 32, int64_t{1} << 31)};
};

bool is_wanted(const std::string& folder, const std::string& name) {
  for (const char* prefix : {"loop", "ram", "zram"}) {
    if (name.starts_with(prefix)) return false;
  }
  ProcFile size;
  int64_t sectors = 0;
  return size.open(folder + "/" + name + "/size", 64) && size.read_number(sectors) && sectors > 0;
}

class DiskSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    disks_.clear();
    samples_ = 0;
    const std::string path = "/sys/block";
    const std::string folder = context.root + path;
    watch_.open(folder);
    const auto names = list_folder(folder);
    if (!names) return all_missing(kMetrics, read_error_text(path, names.error()), kMountSys);
    Opened opened;
    for (const std::string& name : *names) {
      Disk disk;
      if (!is_wanted(folder, name) || !disk.stat.open(folder + "/" + name + "/stat", 256)) continue;
      add_columns(opened, name);
      disks_.push_back(std::move(disk));
    }
    if (disks_.empty()) {
      return all_missing(kMetrics, "this machine shows no block device", "");
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    bool failed = false;
    for (size_t i = 0; i < disks_.size(); ++i) {
      failed |= !sample_disk(disks_[i], values.subspan(i * kParts.size(), kParts.size()));
    }
    if (++samples_ < kRescanSamples) return Sampled::ok;
    samples_ = 0;
    // A device that failed may be back under its old name, with another file.
    return watch_.changed() || failed ? Sampled::layout_changed : Sampled::ok;
  }

 private:
  static void add_columns(Opened& opened, std::string name) {
    std::replace(name.begin(), name.end(), '!', '/');  // as sysfs writes cciss/c0d0
    for (const Part& part : kParts) {
      Labels labels = {{"device", name}};
      if (part.direction != nullptr) labels.emplace_back("direction", part.direction);
      opened.columns.push_back({part.metric, std::move(labels), part.scale});
    }
  }

  static bool sample_disk(Disk& disk, std::span<int64_t> values) {
    std::array<int64_t, kFields> fields{};
    Scanner scan(disk.stat.read());
    for (int64_t& field : fields) {
      if (scan.number(field)) continue;
      std::fill(values.begin(), values.end(), kAbsent);
      return false;
    }
    for (size_t i = 0; i < kParts.size(); ++i) {
      const int64_t raw = fields[kParts[i].field];
      values[i] = kParts[i].scale == kMilliseconds ? disk.unwrap[i](raw) : raw;
    }
    return true;
  }

  std::vector<Disk> disks_;
  FolderWatch watch_;
  int samples_ = 0;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "disk",
    .summary = "bytes read and written by every block device, and its utilisation",
    .needs = "/sys/block",
    .scope = Scope::machine,
    .pace = Pace::tick,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<DiskSource>()); },
};

}  // namespace trainscope::disk_collector
