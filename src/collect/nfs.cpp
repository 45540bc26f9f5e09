// nfs: bytes and requests of every NFS mount, and the response time of its server.
//
// Source: /proc/self/mountstats, mounts of type nfs and nfs4. Units: bytes and milliseconds, stored
// as such. Permission: none. Cost: 20 µs per mount, once per second on its own thread, because a
// mount or umount in progress can lock the table. Caveats: the repeated numbers of a bind mount are
// omitted. Times are summed over concurrent requests. If there was no NFS mount at the start, later
// ones are not found.
#include <algorithm>
#include <array>
#include <set>

#include "base/clock.h"
#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::nfs_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"nfs.io", "By", Kind::counter, "direction, mountpoint", "Bytes read and written by programs"},
    {"nfs.server.io", "By", Kind::counter, "direction, mountpoint",
     "Bytes read from and written to the server"},
    {"nfs.operations", "{operation}", Kind::counter, "mountpoint, operation",
     "Requests to the server"},
    {"nfs.operation.rtt", "s", Kind::counter, "mountpoint, operation",
     "Time from sending a request to its reply, summed"},
    {"nfs.operation.time", "s", Kind::counter, "mountpoint, operation",
     "Time from queueing a request to its reply, summed"},
    {"nfs.operation.queue_time", "s", Kind::counter, "mountpoint, operation",
     "Time in the client's queue before sending, summed"},
    {"nfs.retransmissions", "{request}", Kind::counter, "mountpoint, operation",
     "Requests that were sent again"},
    {"nfs.timeouts", "{request}", Kind::counter, "mountpoint, operation",
     "Requests without a reply in time"},
};

constexpr Scale kMilliseconds{1, 1000};
constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr std::array<std::string_view, 18> kOperations = {
    "READ",    "WRITE",   "COMMIT",  "OPEN",        "OPEN_NOATTR", "CLOSE",
    "GETATTR", "SETATTR", "LOOKUP",  "ACCESS",      "CREATE",      "REMOVE",
    "RENAME",  "MKDIR",   "READDIR", "READDIRPLUS", "LOCK",        "FSSTAT"};

// "device server:/x mounted on /data with fstype nfs4 statvers=1.1": the mount point, if it is NFS.
std::string_view mountpoint_of(std::string_view line) {
  constexpr std::string_view kOn = " mounted on ", kType = " with fstype nfs";
  const size_t on = line.find(kOn), type = line.rfind(kType);
  if (!line.starts_with("device ") || on == std::string_view::npos ||
      type == std::string_view::npos || type < on + kOn.size()) {
    return {};
  }
  return line.substr(on + kOn.size(), type - on - kOn.size());
}

// ops trans timeouts bytes_sent bytes_received queue_ms rtt_ms execute_ms
enum Field : size_t { ops, transmissions, timeouts, sent, received, queue, rtt, execute, kFields };

struct Part {
  std::string_view metric;
  Field field;
  Scale scale;
};
constexpr std::array<Part, 6> kParts = {{
    {"nfs.operations", ops, {}},
    {"nfs.operation.rtt", rtt, kMilliseconds},
    {"nfs.operation.time", execute, kMilliseconds},
    {"nfs.operation.queue_time", queue, kMilliseconds},
    {"nfs.retransmissions", transmissions, {}},
    {"nfs.timeouts", timeouts, {}},
}};

// One mount and the index of its first column: four of bytes, then kParts per operation.
struct NfsMount {
  std::string point;
  size_t column = 0;
  std::vector<std::string> operations;
};

class NfsSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    mounts_.clear();
    const std::string path = "/proc/self/mountstats";
    if (Status status = table_.open(context.root + path, kMaxBytes); !status) {
      return all_missing(kMetrics, read_error_text(path, status.error()), kMountProc);
    }
    Opened opened;
    Scanner scan(table_.read_all());
    while (!scan.done()) {
      const std::string_view line = scan.line();
      if (line.starts_with("device ")) {
        begin_mount(mountpoint_of(line));
      } else if (open_ != nullptr) {
        const std::string_view name = operation_of(line);
        auto& known = open_->operations;
        const bool is_new = std::find(known.begin(), known.end(), name) == known.end();
        if (!name.empty() && is_new) known.emplace_back(name);
      }
    }
    open_ = nullptr;
    for (NfsMount& mount : mounts_) add_columns(opened, mount);
    if (mounts_.empty()) return all_missing(kMetrics, "no NFS file system is mounted here", "");
    add_missing(opened);
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    std::fill(values.begin(), values.end(), kAbsent);
    Scanner scan(table_.read_all());
    NfsMount* mount = nullptr;
    std::set<std::string_view> seen;
    bool changed = false;
    while (!scan.done()) {
      const std::string_view line = scan.line();
      if (line.starts_with("device ")) {
        const std::string_view point = mountpoint_of(line);
        mount = point.empty() || !seen.insert(point).second ? nullptr : find(point);
        changed = changed || (!point.empty() && find(point) == nullptr);
      } else if (mount != nullptr) {
        take_line(*mount, line, values);
      }
    }
    return changed || seen.size() < mounts_.size() ? Sampled::layout_changed : Sampled::ok;
  }

 private:
  void begin_mount(std::string_view point) {
    open_ = nullptr;
    if (point.empty() || find(point) != nullptr) return;
    mounts_.push_back({std::string(point), 0, {}});
    open_ = &mounts_.back();
  }

  NfsMount* find(std::string_view point) {
    for (NfsMount& mount : mounts_) {
      if (mount.point == point) return &mount;
    }
    return nullptr;
  }

  // "READ" of " READ: 12 12 0 …"; empty for other lines.
  static std::string_view operation_of(std::string_view line) {
    Scanner scan(line);
    std::string_view word = scan.word();
    if (!word.ends_with(':')) return {};
    word.remove_suffix(1);
    return std::find(kOperations.begin(), kOperations.end(), word) == kOperations.end()
               ? std::string_view()
               : word;
  }

  static void add_columns(Opened& opened, NfsMount& mount) {
    mount.column = opened.columns.size();
    const std::string point = label_value(mount.point);
    for (const char* metric : {"nfs.io", "nfs.server.io"}) {
      for (const char* direction : {"read", "write"}) {
        opened.columns.push_back({metric, {{"direction", direction}, {"mountpoint", point}}, {}});
      }
    }
    for (const std::string& operation : mount.operations) {
      for (const Part& part : kParts) {
        opened.columns.push_back(
            {part.metric, {{"mountpoint", point}, {"operation", operation}}, part.scale});
      }
    }
  }

  static void add_missing(Opened& opened) {
    for (const MetricSpec& spec : kMetrics) {
      const bool there = std::any_of(opened.columns.begin(), opened.columns.end(),
                                     [&](const Column& it) { return it.metric == spec.name; });
      if (!there) opened.missing.push_back({spec.name, "not counted by this kernel", ""});
    }
  }

  static void take_line(const NfsMount& mount, std::string_view line, std::span<int64_t> values) {
    Scanner scan(line);
    scan.skip_blanks();
    if (scan.take("bytes:")) {
      // normal read, normal write, direct read, direct write, server read, server write
      std::array<int64_t, 6> bytes{};
      for (int64_t& number : bytes) {
        if (!scan.number(number)) return;
      }
      values[mount.column] = bytes[0] + bytes[2];
      values[mount.column + 1] = bytes[1] + bytes[3];
      values[mount.column + 2] = bytes[4];
      values[mount.column + 3] = bytes[5];
      return;
    }
    const std::string_view name = operation_of(line);
    const auto at = std::find(mount.operations.begin(), mount.operations.end(), name);
    if (name.empty() || at == mount.operations.end()) return;
    scan.skip_word();
    std::array<int64_t, kFields> fields{};
    for (int64_t& number : fields) {
      if (!scan.number(number)) return;
    }
    fields[transmissions] = std::max<int64_t>(0, fields[transmissions] - fields[ops]);
    const auto place = static_cast<size_t>(at - mount.operations.begin());
    for (size_t i = 0; i < kParts.size(); ++i) {
      values[mount.column + 4 + place * kParts.size() + i] = fields[kParts[i].field];
    }
  }

  ProcFile table_;
  std::vector<NfsMount> mounts_;
  NfsMount* open_ = nullptr;  // the one whose lines open() reads
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "nfs",
    .summary = "bytes and requests of every NFS mount, and the response time of its server",
    .needs = "a mounted NFS file system",
    .scope = Scope::machine,
    .pace = Pace::thread,
    .period_ns = kNsPerSecond,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<NfsSource>()); },
};

}  // namespace trainscope::nfs_collector
