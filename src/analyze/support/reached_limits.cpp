#include "analyze/support/reached_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr double kMostOfReads = 0.8;
// Volumes and the disks below them count the same reads, but for a few.
constexpr double kSameReads = 0.98;
constexpr double kMostRandomBytes = 16 << 10;  // of a request; the limits are those of 4 KiB

// Reads of one disk while the job trained, per second.
struct ServedReads {
  double bytes = 0, requests = 0;
};
using DiskReads = std::map<std::string, ServedReads, std::less<>>;

std::string_view disk_label(const Series& series, std::string_view name) {
  for (const auto& [label, value] : series.labels) {
    if (label == name) return value;
  }
  return "";
}

// By the names of disks in `system.disk.*`; empty if they were not recorded.
Result<DiskReads> read_disks(const RunView& run, const TimeWindows& windows) {
  const std::vector<Series>& all = run.recorded_series();
  std::vector<WindowQuery> queries;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_wanted =
        (all[i].metric == "system.disk.io" || all[i].metric == "system.disk.operations") &&
        all[i].status != SeriesStatus::absent && disk_label(all[i], "direction") == "read";
    if (is_wanted) queries.push_back({i, Reading::rate});
  }
  TS_TRY(const auto folds, run.fold_windows(queries, windows));
  DiskReads disks;
  for (size_t i = 0; i < queries.size(); ++i) {
    const Series& series = all[queries[i].series];
    ServedReads& disk = disks[std::string(disk_label(series, "device"))];
    (series.metric == "system.disk.io" ? disk.bytes : disk.requests) = folds[i].mean().value_or(0);
  }
  return disks;
}

// Whether what the job read came from this disk: it served as much, and no other disk did.
bool is_where_the_job_reads(const DiskReads& disks, const ServedReads& disk, double job) {
  return disk.bytes >= kMostOfReads * job &&
         std::none_of(disks.begin(), disks.end(), [&](const auto& other) {
           const auto [less, more] = std::minmax(disk.bytes, other.second.bytes);
           return other.second.bytes >= kMostOfReads * job && less < kSameReads * more;
         });
}

// What the job did of this limit of storage; nothing if it read elsewhere, or if that is unknown.
std::optional<double> reached_reads(const Evidence& evidence, const DiskReads& disks,
                                    const std::string& working_mount, const Limit& limit) {
  // The kernel does not count reads of FUSE, and not all of other file systems without a disk, as
  // reads from storage.
  const auto job =
      evidence.mean(limit.device.empty() ? Signal::read_bytes : Signal::disk_read_bytes);
  if (!job || !(*job > 0)) return std::nullopt;
  const auto disk = disks.find(limit.device);
  const bool is_there = disk != disks.end()
                            ? is_where_the_job_reads(disks, disk->second, *job)
                            : !working_mount.empty() && limit.mount_point == working_mount;
  if (!is_there) return std::nullopt;
  if (limit.unit == "By/s") {
    // More than the limit came from the page cache.
    if (limit.device.empty() && *job > limit.value) return std::nullopt;
    return job;
  }
  if (disk == disks.end() || !(disk->second.requests > 0)) return std::nullopt;
  const double request_bytes = disk->second.bytes / disk->second.requests;
  if (request_bytes > kMostRandomBytes) return std::nullopt;
  return *job / request_bytes;
}

std::string machine_of(const Json& host) {
  return machine_kind(text_field(host, "cpu_model"), integer_field(host, "threads").value_or(0));
}

std::string working_mount_point(const Json& host) {
  return text_field(field(field(host, "filesystems"), "working_directory"), "mountpoint");
}

ReachedLimit reached_of(const Limit& limit, double reached) {
  return {limit.name, reached, limit.value, limit.unit, limit.measured};
}

const ReachedLimit* find_reached(const Evidence& evidence, std::string_view name) {
  const auto& all = evidence.limits();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ReachedLimit& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// The disk's limit is the larger of what one thread and several got from it.
void keep_larger(std::vector<ReachedLimit>& all, const std::string& name) {
  const auto find = [&](const std::string& wanted) {
    return std::find_if(all.begin(), all.end(),
                        [&](const ReachedLimit& one) { return one.name == wanted; });
  };
  const auto one = find(name), several = find(name + "_parallel");
  if (one == all.end() || several == all.end()) return;
  all.erase(one->limit > several->limit ? several : one);
}

}  // namespace

Result<std::vector<ReachedLimit>> reached_limits(const RunView& run, const Evidence& evidence,
                                                 const MachineLimits& limits) {
  std::vector<ReachedLimit> all;
  const Json host = parse_json(run.host_json());
  if (!may_apply_to(limits, machine_of(host))) return all;
  const std::string working_mount = working_mount_point(host);
  TS_TRY(const DiskReads disks, read_disks(run, evidence.windows()));
  for (const Limit& limit : limits.limits) {
    const auto is_known = [&](const ReachedLimit& one) { return one.name == limit.name; };
    if (std::any_of(all.begin(), all.end(), is_known)) continue;
    std::optional<double> reached;
    if (limit.name == "gpu.copy.host_to_device") reached = evidence.mean(Signal::gpu_copied);
    if (limit.name.starts_with("disk.read.")) {
      reached = reached_reads(evidence, disks, working_mount, limit);
    }
    if (reached) all.push_back(reached_of(limit, *reached));
  }
  keep_larger(all, "disk.read.sequential");
  keep_larger(all, "disk.read.random");
  return all;
}

std::optional<std::string> disk_limit_text(const Evidence& evidence) {
  const ReachedLimit* most = find_reached(evidence, "disk.read.sequential_parallel");
  if (most == nullptr) most = find_reached(evidence, "disk.read.sequential");
  // The sentence begins with the reads from storage: of a limit without a disk others count.
  if (most == nullptr || most->reached != evidence.mean(Signal::disk_read_bytes)) {
    return std::nullopt;
  }
  return fmt::format("of the {} that this disk gives", limit_text(most->limit, most->unit));
}

std::optional<std::string> copy_limit_text(const Evidence& evidence) {
  const ReachedLimit* copies = find_reached(evidence, "gpu.copy.host_to_device");
  if (copies == nullptr) return std::nullopt;
  return fmt::format("of the {} that pinned memory gives", limit_text(copies->limit, copies->unit));
}

void add_limit_evidence(const Evidence& evidence, std::string_view prefix, Finding& finding) {
  for (const ReachedLimit& one : evidence.limits()) {
    if (!one.name.starts_with(prefix)) continue;
    finding.evidence.push_back(
        fmt::format("{}: {} of {} (measured {})", one.name, limit_text(one.reached, one.unit),
                    limit_text(one.limit, one.unit), measured_date(one.measured)));
  }
}

}  // namespace trainscope
