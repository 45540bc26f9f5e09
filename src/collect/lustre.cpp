// lustre: bytes, operations and requests of this client on every Lustre file system and its
// servers.
//
// Source: stats, read_ahead_stats and extents_stats of llite/*, stats of osc/* and mdc/*, below
// /proc/fs/lustre (to 2.11), /sys/kernel/debug/lustre (since) or /sys/fs/lustre. Units: bytes,
// microseconds, calls. Permission: only root can read debugfs unless it is mounted with mode=755.
// Cost: 30 µs per file system and 5 µs per target, once per second. Caveats: Lustre omits lines
// that have counted nothing yet, so a line missing from a complete file means 0. Root can clear the
// counters. Times of operations exist since 2.13 only. For more than one sample per second give the
// file with --counter.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/folder_watch.h"
#include "kernel/proc_file.h"

namespace trainscope::lustre_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"lustre.read.bytes", "By", Kind::counter, "fs", "Bytes read by programs"},
    {"lustre.write.bytes", "By", Kind::counter, "fs", "Bytes written by programs"},
    {"lustre.read.calls", "{call}", Kind::counter, "fs", "Reads by programs"},
    {"lustre.write.calls", "{call}", Kind::counter, "fs", "Writes by programs"},
    {"lustre.operations", "{operation}", Kind::counter, "fs, operation",
     "Operations on files and folders"},
    {"lustre.operation_time", "s", Kind::counter, "fs, operation",
     "Time of these operations, summed"},
    {"lustre.readahead.hits", "{page}", Kind::counter, "fs", "Requested pages that were in memory"},
    {"lustre.readahead.misses", "{page}", Kind::counter, "fs",
     "Requested pages that had to be fetched"},
    {"lustre.extents", "{call}", Kind::counter, "direction, fs, size",
     "Reads and writes by size: up to this and more than the next smaller one"},
    {"lustre.target.requests", "{request}", Kind::counter, "fs, target",
     "Requests to a server that were completed"},
    {"lustre.target.wait_time", "s", Kind::counter, "fs, target",
     "Time that requests waited for the reply, summed"},
    {"lustre.target.read.bytes", "By", Kind::counter, "fs, target", "Bytes fetched from a target"},
    {"lustre.target.write.bytes", "By", Kind::counter, "fs, target", "Bytes sent to a target"},
};

constexpr const char* kShowDebugfs = "sudo mount -o remount,mode=755 /sys/kernel/debug";
constexpr const char* kCountExtents = "sudo lctl set_param llite.*.extents_stats=1";
constexpr int kRescanSamples = 10;
constexpr std::array<const char*, 3> kBases = {"/proc/fs/lustre", "/sys/kernel/debug/lustre",
                                               "/sys/fs/lustre"};
constexpr std::array<const char*, 24> kOperations = {
    "open",     "close", "getattr",    "setattr",      "create",  "link",     "unlink",   "symlink",
    "mkdir",    "rmdir", "mknod",      "rename",       "readdir", "statfs",   "fsync",    "flock",
    "truncate", "mmap",  "page_fault", "page_mkwrite", "seek",    "getxattr", "setxattr", "ioctl"};
constexpr Scale kMicroseconds{1, 1'000'000};

// name count samples [unit] {min max sum {sum of squares}}
struct StatLine {
  std::string_view name, unit;
  int64_t count = 0, sum = 0;
};

bool parse_stat_line(std::string_view text, StatLine& line) {
  Scanner scan(text);
  line.name = scan.word();
  line.sum = 0;
  if (!scan.number(line.count) || scan.word() != "samples") return false;
  line.unit = scan.word();
  int64_t min = 0, max = 0;
  if (!scan.signed_number(min) || !scan.signed_number(max)) return true;
  scan.number(line.sum);
  return true;
}

bool is_time(const StatLine& line) { return line.unit.starts_with("[usec"); }

enum class Take { count, sum };

// A stats file and which of its lines go to which column.
struct StatsFile {
  struct Slot {
    std::string line;
    Take take;
    size_t column;
  };
  ProcFile file;
  std::vector<Slot> slots;

  void sample(std::span<int64_t> values) {
    const std::string_view text = file.read_all();
    const bool whole = text.starts_with("snapshot_time") && text.ends_with('\n');
    for (const Slot& slot : slots) values[slot.column] = whole ? 0 : kAbsent;
    Scanner scan(whole ? text : std::string_view());
    StatLine line;
    while (!scan.done()) {
      if (!parse_stat_line(scan.line(), line)) continue;
      for (const Slot& slot : slots) {
        if (slot.line != line.name) continue;
        values[slot.column] = slot.take == Take::count ? line.count : line.sum;
      }
    }
  }
};

//    4K -    8K :      14    7    7  |       3   10   10
struct ExtentRow {
  std::string_view size;
  int64_t read = 0, write = 0;
};

bool parse_extent_row(std::string_view text, ExtentRow& row) {
  Scanner scan(text);
  scan.skip_word();
  if (scan.word() != "-") return false;
  row.size = scan.word();
  scan.skip_blanks();
  if (!row.size.ends_with(':') && !scan.take(":")) return false;
  while (row.size.ends_with(':') || row.size.ends_with('+')) row.size.remove_suffix(1);
  int64_t share = 0;
  if (row.size.empty() || !scan.number(row.read) || !scan.number(share)) return false;
  if (!scan.number(share)) return false;
  scan.skip_blanks();
  return scan.take("|") && scan.number(row.write);
}

struct ExtentsFile {
  ProcFile file;
  std::string fs;
  size_t rows = 0, column = 0;

  // False when there are more sizes than there were.
  bool sample(std::span<int64_t> values) {
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(column), 2 * rows, kAbsent);
    Scanner scan(file.read_all());
    ExtentRow row;
    size_t at = 0;
    while (!scan.done()) {
      if (!parse_extent_row(scan.line(), row)) continue;
      if (at == rows) return false;
      values[column + 2 * at] = row.read;
      values[column + 2 * at + 1] = row.write;
      ++at;
    }
    return true;
  }
};

struct Found {
  std::string folder, instance;
};

class LustreSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    root_ = context.root;
    stats_.clear();
    extents_.clear();
    samples_ = 0;
    denied_ = extents_off_ = false;
    Opened opened;
    const auto clients = find_instances("llite");
    for (const Found& found : clients) add_client(opened, found, clients);
    for (const char* kind : {"osc", "mdc"}) {
      for (const Found& found : find_instances(kind)) add_target(opened, found, kind);
    }
    watch_.open(clients.empty() ? fmt::format("{}{}/llite", root_, kBases[0])
                                : fmt::format("{}{}/..", root_, clients[0].folder));
    add_missing(opened, !clients.empty());
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    for (StatsFile& file : stats_) file.sample(values);
    bool more = false;
    for (ExtentsFile& file : extents_) more |= !file.sample(values);
    if (more) return Sampled::layout_changed;
    if (++samples_ < kRescanSamples) return Sampled::ok;
    samples_ = 0;
    return watch_.changed() ? Sampled::layout_changed : Sampled::ok;
  }

 private:
  // One an instance: the folder that has its stats, or the first that there is.
  std::vector<Found> find_instances(const std::string& kind) {
    std::vector<Found> all;
    for (const char* base : kBases) {
      const std::string folder = std::string(base) + "/" + kind;
      const auto names = list_folder(root_ + folder);
      if (!names) {
        const int error = names.error().error_number();
        denied_ = denied_ || error == EACCES || error == EPERM;
        continue;
      }
      for (const std::string& name : *names) {
        if (name.find('-') == std::string::npos) continue;  // num_refs and the like
        const Found here = {folder + "/" + name, name};
        const auto known = std::find_if(all.begin(), all.end(),
                                        [&](const Found& it) { return it.instance == name; });
        if (known == all.end()) {
          all.push_back(here);
        } else if (!exists(root_ + known->folder + "/stats")) {
          *known = here;
        }
      }
    }
    return all;
  }

  bool open_file(ProcFile& file, const std::string& path) {
    const Status status = file.open(root_ + path, 64 * 1024);
    if (status) return true;
    denied_ = denied_ || status.error().error_number() == EACCES;
    return false;
  }

  // scratch-ffff8d0c5c1e3800 is scratch, unless it is mounted twice.
  static std::string fs_of(const Found& found, const std::vector<Found>& all) {
    const std::string fs = found.instance.substr(0, found.instance.rfind('-'));
    const auto same = std::count_if(all.begin(), all.end(), [&](const Found& other) {
      return other.instance.substr(0, other.instance.rfind('-')) == fs;
    });
    return label_value(same > 1 ? found.instance : fs);
  }

  static void add(Opened& opened, StatsFile& file, std::string_view metric, Labels labels,
                  const std::string& line, Take take, Scale scale = {}) {
    file.slots.push_back({line, take, opened.columns.size()});
    opened.columns.push_back({metric, std::move(labels), scale});
  }

  void add_client(Opened& opened, const Found& found, const std::vector<Found>& all) {
    const Labels labels = {{"fs", fs_of(found, all)}};
    StatsFile stats;
    if (open_file(stats.file, found.folder + "/stats")) {
      add(opened, stats, "lustre.read.bytes", labels, "read_bytes", Take::sum);
      add(opened, stats, "lustre.write.bytes", labels, "write_bytes", Take::sum);
      add(opened, stats, "lustre.read.calls", labels, "read_bytes", Take::count);
      add(opened, stats, "lustre.write.calls", labels, "write_bytes", Take::count);
      add_operations(opened, stats, labels);
      stats_.push_back(std::move(stats));
    }
    StatsFile readahead;
    if (open_file(readahead.file, found.folder + "/read_ahead_stats")) {
      add(opened, readahead, "lustre.readahead.hits", labels, "hits", Take::count);
      add(opened, readahead, "lustre.readahead.misses", labels, "misses", Take::count);
      stats_.push_back(std::move(readahead));
    }
    ExtentsFile extents;
    if (open_file(extents.file, found.folder + "/extents_stats")) {
      extents.fs = labels[0].second;
      add_extents(opened, std::move(extents));
    }
  }

  void add_operations(Opened& opened, StatsFile& stats, const Labels& fs) {
    Scanner scan(stats.file.read_all());
    StatLine line;
    bool times = false;
    while (!scan.done()) {
      const bool known =
          parse_stat_line(scan.line(), line) &&
          std::find(kOperations.begin(), kOperations.end(), line.name) != kOperations.end();
      times = times || (known && is_time(line));
    }
    for (const char* operation : kOperations) {
      const Labels labels = {fs[0], {"operation", operation}};
      add(opened, stats, "lustre.operations", labels, operation, Take::count);
      if (!times) continue;
      add(opened, stats, "lustre.operation_time", labels, operation, Take::sum, kMicroseconds);
    }
  }

  void add_extents(Opened& opened, ExtentsFile extents) {
    extents.column = opened.columns.size();
    Scanner scan(extents.file.read_all());
    const bool off = scan.rest().starts_with("disabled");
    extents_off_ = extents_off_ || off;
    ExtentRow row;
    while (!scan.done()) {
      if (!parse_extent_row(scan.line(), row)) continue;
      for (const char* direction : {"read", "write"}) {
        opened.columns.push_back(
            {"lustre.extents",
             {{"direction", direction}, {"fs", extents.fs}, {"size", label_value(row.size)}},
             {}});
      }
      ++extents.rows;
    }
    if (!off) extents_.push_back(std::move(extents));
  }

  // scratch-OST0003-osc-ffff8d0c5c1e3800 is OST0003 of scratch.
  void add_target(Opened& opened, const Found& found, const std::string& kind) {
    const size_t end = found.instance.find("-" + kind);
    const size_t dash = end == std::string::npos || end == 0 ? std::string::npos
                                                             : found.instance.rfind('-', end - 1);
    StatsFile stats;
    if (dash == std::string::npos || !open_file(stats.file, found.folder + "/stats")) return;
    const Labels labels = {
        {"fs", label_value(found.instance.substr(0, dash))},
        {"target", label_value(found.instance.substr(dash + 1, end - dash - 1))}};
    for (const Column& column : opened.columns) {
      if (column.metric == "lustre.target.requests" && column.labels == labels) return;
    }
    add(opened, stats, "lustre.target.requests", labels, "req_waittime", Take::count);
    add(opened, stats, "lustre.target.wait_time", labels, "req_waittime", Take::sum, kMicroseconds);
    if (kind == "osc") {
      add(opened, stats, "lustre.target.read.bytes", labels, "read_bytes", Take::sum);
      add(opened, stats, "lustre.target.write.bytes", labels, "write_bytes", Take::sum);
    }
    stats_.push_back(std::move(stats));
  }

  void add_missing(Opened& opened, bool mounted) const {
    for (const MetricSpec& spec : kMetrics) {
      const bool there = std::any_of(opened.columns.begin(), opened.columns.end(),
                                     [&](const Column& it) { return it.metric == spec.name; });
      if (there) continue;
      Missing missing = {spec.name, "no Lustre file system is mounted here", ""};
      if (mounted) missing.reason = "not counted by this version of the Lustre client";
      if (mounted && denied_) {
        missing.reason = "no permission to read /sys/kernel/debug/lustre";
        missing.remedy = kShowDebugfs;
      } else if (spec.name == "lustre.extents" && extents_off_) {
        missing.reason = "this client does not count the sizes of reads and writes";
        missing.remedy = kCountExtents;
      }
      opened.missing.push_back(std::move(missing));
    }
  }

  std::string root_;
  std::vector<StatsFile> stats_;
  std::vector<ExtentsFile> extents_;
  FolderWatch watch_;
  int samples_ = 0;
  bool denied_ = false, extents_off_ = false;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "lustre",
    .summary = "bytes, operations and requests of this client on Lustre file systems",
    .needs = "a mounted Lustre file system, and readable debugfs",
    .scope = Scope::machine,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<LustreSource>()); },
};

}  // namespace trainscope::lustre_collector
