#include "analyze/support/reached_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr size_t kDateLength = 10;  // 2026-11-16

// Reads of one disk while the job trained, by its name in `system.disk.*`.
class DiskReads {
 public:
  DiskReads(const RunView& run, const TimeWindows& windows) : run_(run), windows_(windows) {}

  bool is_recorded() const { return find("system.disk.io", "").has_value(); }
  Result<std::optional<double>> rate(std::string_view metric, const std::string& device) const {
    const auto series = find(metric, device);
    if (!series) return std::optional<double>();
    TS_TRY(const auto folds, run_.fold_windows({{*series, Reading::rate}}, windows_));
    return folds.front().mean();
  }

 private:
  // The first, of any device if it is "".
  std::optional<size_t> find(std::string_view metric, std::string_view device) const {
    const std::vector<Series>& all = run_.recorded_series();
    for (size_t i = 0; i < all.size(); ++i) {
      const auto has = [&](std::string_view name, std::string_view value) {
        return std::any_of(all[i].labels.begin(), all[i].labels.end(), [&](const auto& label) {
          return label.first == name && (value.empty() || label.second == value);
        });
      };
      const bool is_it = all[i].metric == metric && all[i].status != SeriesStatus::absent &&
                         has("direction", "read") && has("device", device);
      if (is_it) return i;
    }
    return std::nullopt;
  }

  const RunView& run_;
  const TimeWindows& windows_;
};

std::string working_mount_point(const RunView& run) {
  const Json host = parse_json(run.host_json());
  return text_field(field(field(host, "filesystems"), "working_directory"), "mountpoint");
}

Result<bool> is_where_the_job_reads(const RunView& run, const Evidence& evidence,
                                    const DiskReads& disks, const Limit& limit) {
  const auto job = evidence.mean(Signal::disk_read_bytes);
  if (!job) return false;
  if (limit.device.empty() || !disks.is_recorded()) {
    return !limit.mount_point.empty() && limit.mount_point == working_mount_point(run);
  }
  TS_TRY(const auto served, disks.rate("system.disk.io", limit.device));
  return served && 2 * *served >= *job;
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
  const DiskReads disks(run, evidence.windows());
  for (const Limit& limit : limits.limits) {
    const auto is_known = [&](const ReachedLimit& one) { return one.name == limit.name; };
    if (std::any_of(all.begin(), all.end(), is_known)) continue;
    if (limit.name == "gpu.copy.host_to_device") {
      const auto copied = evidence.mean(Signal::gpu_copied);
      if (copied) all.push_back(reached_of(limit, *copied));
    }
    if (!limit.name.starts_with("disk.read.")) continue;
    TS_TRY(const bool is_there, is_where_the_job_reads(run, evidence, disks, limit));
    if (!is_there) continue;
    if (limit.unit == "By/s") {
      all.push_back(reached_of(limit, *evidence.mean(Signal::disk_read_bytes)));
    } else if (!limit.device.empty()) {
      TS_TRY(const auto reads, disks.rate("system.disk.operations", limit.device));
      if (reads) all.push_back(reached_of(limit, *reads));
    }
  }
  keep_larger(all, "disk.read.sequential");
  keep_larger(all, "disk.read.random");
  return all;
}

std::optional<std::string> disk_limit_text(const Evidence& evidence) {
  const ReachedLimit* most = find_reached(evidence, "disk.read.sequential_parallel");
  if (most == nullptr) most = find_reached(evidence, "disk.read.sequential");
  if (most == nullptr) return std::nullopt;
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
                    limit_text(one.limit, one.unit), one.measured.substr(0, kDateLength)));
  }
}

}  // namespace trainscope
