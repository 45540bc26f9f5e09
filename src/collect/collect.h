// A collector is one .cpp in this folder that defines one constant `<stem>_collector`.
//
// The build lists the folder and generates collectors(); the recorder, `doctor` and the reference
// pages read that table. A collector depends neither on the store nor on other collectors. What
// several share is in collect/support/: counters/ (files as series), devices/ (sensors, interfaces,
// performance counters), programs/ (child processes that print values).
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kernel/job_processes.h"
#include "model/metric.h"

namespace trainscope {

struct MachineLimits;  // model/limits.h

// Whose numbers these are. Under srun or torchrun only local rank 0 records the machine's own.
enum class Scope { machine, job, recorder };

// The pace of a source. `tick`: every --every, on the sampling thread; must take microseconds.
// `second`: at most once per second, on the sampling thread. `thread`: on its own thread, every
// `period_ns`, because it may be slow or hang.
enum class Pace { tick, second, thread };

// Sum of the final values of orphans that our subreaper reaped. They are counted only here: a
// zombie that waits for the reaper is no longer counted, or it would count twice.
struct Reaped {
  std::atomic<int64_t> user_ns{0}, system_ns{0}, minor_faults{0}, major_faults{0};
  std::atomic<int64_t> read_chars{0}, write_chars{0}, read_calls{0}, write_calls{0};
  std::atomic<int64_t> read_bytes{0}, write_bytes{0};
  std::atomic<int64_t> voluntary_switches{0}, involuntary_switches{0};

  // The last processes that were reaped: so many between two samples are recognised.
  static constexpr size_t kPids = 256;
  std::atomic<pid_t> pids[kPids] = {};
  std::atomic<size_t> count{0};
  void note(pid_t pid) { pids[count++ % kPids] = pid; }
  bool has(pid_t pid) const { return std::find(pids, pids + kPids, pid) != pids + kPids; }
};

// State of a source of the job that a restarted recorder could not find out again. It is in the
// memory that outlives the recorder, so the counters continue.
struct JobTotals {
  static constexpr size_t kNumbers = 10;
  std::atomic<int64_t> total[kNumbers] = {};  // the last stored values
  std::atomic<int64_t> ended[kNumbers] = {};  // of ended processes that no other process absorbed
  std::atomic<int64_t> base[kNumbers] = {};   // usage of an attached job before the run
  std::atomic<int32_t> has_base{0};
};

// The same for job_threads, which has a table: two copies in turn, so that one is always complete.
struct JobThreadState {
  static constexpr size_t kBytes = 4096;
  std::atomic<uint64_t> written{0};  // how often
  alignas(8) char copies[2][kBytes] = {};
  const char* last() const { return copies[written % 2]; }
  char* next() { return copies[(written + 1) % 2]; }
};

// The job's first process when our supervisor reaped it: the last values of its first thread.
struct JobFirstEnd {
  std::atomic<int64_t> pid{0}, start_ticks{0}, run_ns{0}, wait_ns{0};
  std::atomic<int64_t> ended_ns{0};  // written last; 0: it has not ended
};

// The recorded job: its processes, and counts that outlive them.
struct JobLink : JobProcesses {
  const Reaped* reaped = nullptr;
  // Of the sources job, job_switches and job_threads; null if nothing is recorded.
  JobTotals* usage = nullptr;
  JobTotals* switches = nullptr;
  JobThreadState* threads = nullptr;
  const JobFirstEnd* first_end = nullptr;
};

// Values of the recorder about itself.
struct SelfLink {
  std::atomic<pid_t> supervisor_pid{0};
  std::atomic<int64_t> missed_ticks{0};    // since the start of the run
  std::atomic<int64_t> bytes_written{0};   // by all incarnations of the recorder
  std::atomic<int64_t> earlier_cpu_ns{0};  // CPU of recorders of this run that are dead
};

// Settings of single sources. `record` passes them on as they are: an option of a source is a
// member here and a row in cli/setting_table.cpp.
struct SourceOptions {
  std::vector<std::string> counters;  // --counter, as given
  std::vector<std::string> data;      // --data: files and folders of the dataset
  bool perf = false;  // --perf: count by perf events, which slows the job's thread switches
};

// Everything that a source gets from its caller.
struct SourceContext : SourceOptions {
  SourceContext() { perf = true; }  // without a run (doctor, tests) no job is slowed
  std::string root;                 // prefix of /proc and /sys; empty except in tests
  std::string run_folder;
  std::string working_directory;
  const JobLink* job = nullptr;    // null if there is no job (doctor)
  const SelfLink* self = nullptr;  // null if nothing is recorded (doctor)
  bool records_machine = true;     // false: another rank does
  // Adds an event (a GPU was lost, a file was replaced) to the run, from any thread; empty if
  // nothing is recorded.
  std::function<void(const std::string& kind, const std::string& text)> event_sink;
  std::function<int64_t()> now_ns = monotonic_ns;  // tests have their own clock
};

// One stored column: a series and how its raw integers become values.
struct Column {
  std::string_view metric;  // one of the collector's specs
  Labels labels;            // sorted by name
  Scale scale;
  // For a metric that is specific to this machine or command line: owned by the source. Null: the
  // collector's own spec of that name.
  const MetricSpec* spec = nullptr;
  bool is_double = false;  // the raw 64 bits are a double, never -0 (which kAbsent looks like)
};

// A metric that this machine does not provide, the reason, and a remedy ("" if there is none).
struct Missing {
  std::string_view metric;
  std::string reason;
  std::string remedy;
  const MetricSpec* spec = nullptr;  // as in Column
};

struct Opened {
  std::vector<Column> columns;
  std::vector<Missing> missing;
  // A source on its own thread without columns is opened again nevertheless.
  bool waits = false;
};

enum class Sampled { ok, layout_changed };

class Source {
 public:
  virtual ~Source() = default;
  // Finds the available series and keeps files open. Never fails as a whole: unavailable metrics
  // are in `missing`. Called again after layout_changed.
  virtual Opened open(const SourceContext& context) = 0;
  // Fills one raw value per column, kAbsent if it cannot be read now.
  virtual Sampled sample(std::span<int64_t> values) = 0;
  // The last sample of the run: the counters must be those of the end. A source that usually skips
  // some reads must read everything here; if the values of the end are no longer available, they
  // are absent.
  virtual Sampled sample_last(std::span<int64_t> values) { return sample(values); }
};

struct Collector {
  std::string_view name;
  std::string_view summary;
  std::string_view needs;  // requirements: files, permissions
  Scope scope = Scope::machine;
  // Of a source of the machine: also has metrics of the job, for which it is read on every rank.
  bool is_on_every_rank = false;
  Pace pace = Pace::tick;
  int64_t period_ns = 0;  // for Pace::thread
  // For Pace::thread: the pause is at least this many times the CPU time of the last reading, and
  // as many times, up to 20, its duration. (A busy machine makes a cheap reading long, not
  // expensive.)
  int64_t rest_factor = 20;
  // For Pace::thread: counts what the job does, so its first reading comes with the first tick,
  // before the job begins, on the sampling thread; that reading must take microseconds and never
  // hang.
  bool counts_from_zero = false;
  // For Pace::thread: the time between two readings varies by up to 30 %, because they show a state
  // that a job with regular steps would always show at the same place of a step.
  bool varies = false;
  std::span<const MetricSpec> metrics;
  std::unique_ptr<Source> (*make)() = nullptr;
};

// All collectors, sorted by name. Generated from the folder.
std::span<const Collector* const> collectors();

// Values of --counter or SCOREP_METRIC_FILEPARSER_PLUGIN. An Error has the invalid SPEC and the
// position, or the name that two of them have.
Status check_counters(const std::vector<std::string>& texts);

// What the first GPU gives at most, measured by a trainscope-gpu of its own. Each number takes
// about `each_ns`, copies take at most `buffer_bytes` of memory; an Error if there is no reply in
// time.
Result<MachineLimits> measure_gpu_limits(int64_t each_ns, int64_t buffer_bytes, int64_t limit_ns);

const MetricSpec* find_metric(const Collector& collector, std::string_view name);
// The spec of a Column or a Missing: its own, or the collector's. Null is a bug of the collector.
template <typename Entry>
const MetricSpec* spec_of(const Collector& collector, const Entry& entry) {
  return entry.spec != nullptr ? entry.spec : find_metric(collector, entry.metric);
}

}  // namespace trainscope
