// Plain structs that all modules share.
//
// Collectors produce metrics, the store saves them, analyses and exporters read a RunView. Nothing
// here depends on files, processes or formats. Times are seconds from t = 0 (when the first sample
// was due) unless a name states otherwise; an absent number is an empty optional, never 0 and never
// NaN.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/metric.h"

namespace trainscope {

struct Training;  // model/training.h, which most of the program does not need

// One series over time. `present` has one entry per time; a value whose entry is false means
// nothing.
struct Points {
  std::vector<double> time_s;
  std::vector<double> value;
  std::vector<char> present;
};

// Summary of a series, computed without keeping its points.
struct Summary {
  int64_t samples = 0;  // present values on the grid
  std::optional<double> min, mean, max, last, delta, rate;
};

struct Range {
  std::optional<double> begin_s, end_s;
};

struct Event {
  double time_s = 0;
  std::string kind;
  std::string text;
};

struct Gap {
  double from_s = 0;
  double to_s = 0;
  std::string reason;
};

struct Phase {
  std::string name;
  double from_s = 0;
  std::optional<double> to_s;
};

struct Sampling {
  double period_s = 0;
  int64_t samples = 0;
  int64_t missed = 0;
  int64_t restarts = 0;
  std::optional<double> jitter_p50_s, jitter_p99_s;
  std::vector<Gap> gaps;
};

struct Overhead {
  std::optional<double> cpu_s, cpu_ratio, max_rss_bytes, bytes_written, bytes_per_value;
};

struct Setting {
  std::string name, value, from;  // from: flag, environment, file PATH, default
};

// How the job ended; `running` has no name in JSON (null).
enum class EndedBy { running, exit, signal, time_limit, not_started, detached, unknown };
std::string_view ended_by_name(EndedBy ended_by);
EndedBy ended_by_from_name(std::string_view name);

// One of the runs of `run --repeat N`.
struct Repeat {
  std::string group;             // "repeat-" and the id of the first; empty: not repeated
  int64_t index = 0, count = 0;  // 1 to count
};

// The run's identity card: small, written at start and end, enough for `list`.
struct Manifest {
  std::string id, name, note;
  std::map<std::string, std::string> tags;
  std::string started, ended;  // UTC text; ended is empty while it runs
  std::optional<double> duration_s;
  std::vector<std::string> command;  // secrets redacted
  std::string after_command;
  std::string working_directory;
  bool attached = false;
  // For an imported run: its format and path; empty otherwise. Its times are nominal, so jitter is
  // unknown.
  std::string imported_format, imported_path;
  std::optional<int> exit_code, signal, after_exit_code;
  EndedBy ended_by = EndedBy::running;
  std::string host_name, boot_id, trainscope_version;
  int64_t rank = 0, world_size = 1, local_rank = 0;
  // What the ranks that a launcher started together share: "slurm-4711.0"; empty outside a
  // launcher, and in runs of earlier versions.
  std::string job;
  int64_t restart = 0;          // how often the launcher has started this job again
  bool records_machine = true;  // false: another rank on this machine records the machine's metrics
  Repeat repeat;
  int64_t period_ns = 0;
  // Anchors of t = 0 on the three clocks.
  int64_t zero_monotonic_ns = 0, zero_boottime_ns = 0, zero_realtime_ns = 0;
  int64_t supervisor_pid = 0, supervisor_start_ticks = 0;
  std::optional<int64_t> steps;          // of the training; known at the end
  std::optional<int64_t> bytes_written;  // of samples and events; known at the end
  std::vector<Setting> settings;
  std::vector<Phase> phases;
  std::vector<std::string> notes;  // caveats, such as "recorder did not reply at the end"
};

enum class RunStatus { running, ended, damaged };
std::string_view run_status_name(RunStatus status);

// A recorded run as analyses, comparisons and exporters see it. Implemented by the store.
class RunView {
 public:
  virtual ~RunView() = default;
  virtual const Manifest& manifest() const = 0;
  virtual const std::string& path() const = 0;
  virtual RunStatus status() const = 0;
  virtual double duration_s() const = 0;
  // The host's inventory as JSON text (object); "{}" when the recorder did not get to it.
  virtual const std::string& host_json() const = 0;
  // Stored series first, then derived ones, those of the training, and absent ones.
  virtual const std::vector<Series>& series() const = 0;
  // The beginning of series(): all but those of the training (train.*) and absent ones. Reported
  // progress is not read for it.
  virtual const std::vector<Series>& recorded_series() const { return series(); }
  const Series& series_at(size_t i) const {
    return i < recorded_series().size() ? recorded_series()[i] : series()[i];
  }
  virtual Result<Points> points(size_t series_index, const Range& range) const = 0;
  virtual Result<Summary> summary(size_t series_index) const = 0;
  // Of several series, which takes less time together than one after the other.
  virtual Result<std::vector<Points>> points_of(const std::vector<size_t>& series,
                                                const Range& range) const;
  virtual Result<std::vector<Summary>> summaries_of(const std::vector<size_t>& series) const;
  virtual const Sampling& sampling() const = 0;
  virtual Overhead overhead() const = 0;
  virtual const std::vector<Event>& events() const = 0;
  virtual const Training& training() const = 0;
};

}  // namespace trainscope
