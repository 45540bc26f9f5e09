// gpu: GPUs, in total and for the job's own processes.
//
// Source: trainscope-gpu, a process next to the recorder that queries the drivers (src/gpu, one
// file per vendor). Units: as in the table. Permission: none. Cost: one exchange over a socket per
// reading, on its own thread; the cost of driver calls is that process's and is counted as
// recorder.cpu.time{process=gpu}. Caveats: values that the driver samples itself (power,
// utilisation) are absent at ticks in between; slow queries are made once per second. If a driver
// hangs or a GPU is lost, its series are stale and an event reports it, the others continue. A rank
// that does not record the machine has job.gpu.* of all GPUs, once per second, and other metrics
// only of GPUs that no other rank may use.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "collect/collect.h"
#include "collect/support/missing.h"
#include "collect/support/programs/gpu_process.h"
#include "kernel/proc_file.h"
#include "kernel/process_tree.h"

namespace trainscope::gpu_collector {

extern const Collector entry;

namespace {

constexpr MetricSpec kMetrics[] = {
    {"hw.gpu.utilization", "1", Kind::gauge, "gpu", "Share of time in which a kernel ran",
     in_info(601)},
    {"hw.gpu.memory.usage", "By", Kind::gauge, "gpu", "Memory of the GPU in use, by all processes",
     in_info(602)},
    {"hw.gpu.memory.limit", "By", Kind::gauge, "gpu", "Total memory of the GPU"},
    {"hw.gpu.memory.controller.utilization", "1", Kind::gauge, "gpu",
     "Share of time in which the GPU's memory was read or written"},
    {"hw.gpu.memory.temperature", "Cel", Kind::gauge, "gpu", "Temperature of the GPU's memory"},
    {"hw.gpu.encoder.utilization", "1", Kind::gauge, "gpu", "Share of time of the video encoder"},
    {"hw.gpu.decoder.utilization", "1", Kind::gauge, "gpu", "Share of time of the video decoder"},
    {"hw.gpu.temperature", "Cel", Kind::gauge, "gpu", "Temperature of the GPU", in_info(604)},
    {"hw.gpu.power", "W", Kind::gauge, "gpu", "Power of the GPU's board", in_info(603)},
    {"hw.gpu.energy", "J", Kind::counter, "gpu", "Energy since the driver was loaded"},
    {"hw.gpu.fan.speed", "1", Kind::gauge, "gpu", "Fan, as a share of its highest speed"},
    {"hw.gpu.clock", "Hz", Kind::gauge, "clock, gpu", "Clock of the processors and of the memory"},
    {"hw.gpu.performance_state", "1", Kind::state, "gpu", "P-state: 0 is the fastest"},
    {"hw.gpu.throttle", "1", Kind::state, "gpu, reason", "1 while this reason limits the clocks"},
    {"hw.gpu.throttle.time", "s", Kind::counter, "gpu, reason",
     "Time in which this reason limited the clocks, as counted by the driver"},
    {"hw.gpu.ecc.errors", "{error}", Kind::counter, "gpu, type",
     "Memory errors since the driver was loaded"},
    {"hw.gpu.sm_active", "1", Kind::gauge, "gpu", "Share of processors that had work, over time"},
    {"hw.gpu.sm_occupancy", "1", Kind::gauge, "gpu", "Warps in flight, as a share of the maximum"},
    {"hw.gpu.tensor_active", "1", Kind::gauge, "gpu", "Share of time of the tensor cores"},
    {"hw.gpu.fp32_active", "1", Kind::gauge, "gpu", "Share of time of the fp32 units"},
    {"hw.gpu.dram_active", "1", Kind::gauge, "gpu", "Memory bandwidth, as a share of the peak"},
    {"hw.gpu.pcie.io", "By", Kind::counter, "direction, gpu",
     "Bytes over PCIe since recording began, added up from the driver's rates"},
    {"hw.gpu.pcie.generation", "1", Kind::state, "gpu", "Current PCIe generation"},
    {"hw.gpu.pcie.width", "{lane}", Kind::state, "gpu", "Current number of PCIe lanes"},
    {"hw.gpu.nvlink.io", "By", Kind::counter, "direction, gpu",
     "Bytes over all NVLinks; if the driver reports rates, added up since recording began"},
    {"job.gpu.memory.usage", "By", Kind::gauge, "gpu", "Memory of the GPU used by the job"},
    {"job.gpu.sm_utilization", "1", Kind::gauge, "gpu", "The job's own share of the GPU's time"},
    {"recorder.cpu.time", "s", Kind::counter, "process", "CPU time of Trainscope's processes"},
    {"recorder.memory.usage", "By", Kind::gauge, "process",
     "Resident memory of Trainscope's processes"},
};

constexpr int64_t kLayoutLimit = 5 * kNsPerSecond;
constexpr int64_t kRowLimit = kNsPerSecond / 2;
constexpr int64_t kFirstRetry = kNsPerSecond / 2, kLastRetry = 60 * kNsPerSecond;
constexpr int64_t kFindJobPeriod = kNsPerSecond / 2;
constexpr int64_t kJobPeriod = 950'000'000;  // as slow columns are read
constexpr size_t kOwnColumns = 2;            // recorder.* of the GPU process come first

bool cannot_be_loaded(const Error& error) { return error.error_number() == ELIBACC; }

Opened missing_for(const Error& error, const std::string& remedy) {
  return all_missing(kMetrics, error.message(),
                     cannot_be_loaded(error)
                         ? "record GPUs on a system with glibc 2.34 or later, such as Debian 12, "
                           "Ubuntu 22.04 or RHEL 9"
                         : remedy);
}

class GpuSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    context_ = &context;
    if (!std::exchange(is_open_, true)) job_.open(context.root, context.job);
    if (!process_.running()) {
      if (const Status started = start(); !started) {
        is_settled_ = !had_gpus_;
        Opened missing = missing_for(started.error(), "put trainscope-gpu next to trainscope");
        leave_out_machine(missing);
        return missing;
      }
    }
    const auto layout = process_.ask_layout(kLayoutLimit, context.event_sink);
    Json parsed = Json::object();
    if (layout) parsed = parse_json(*layout);
    Opened opened = layout ? read_layout(parsed) : missing_for(layout.error(), "");
    leave_out_machine(opened);
    had_gpus_ = had_gpus_ || !opened.columns.empty();
    // A driver that is still starting (nvmlInit of eight GPUs can take longer than we wait) is
    // queried again; a machine without a GPU is not, and its process is not needed.
    const bool is_answered = layout && parsed.is_object() && !parsed.value("searching", false);
    is_settled_ = !had_gpus_ && (is_answered || (!layout && cannot_be_loaded(layout.error())));
    if (is_settled_) process_.stop();
    opened.waits = !is_settled_;
    if (opened.columns.empty()) retry_ns_ = monotonic_ns() + back_off();
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override { return ask(GpuMessage::ask_row, values); }

  Sampled sample_last(std::span<int64_t> values) override {
    return ask(GpuMessage::ask_last_row, values);
  }

 private:
  Sampled ask(GpuMessage message, std::span<int64_t> values) {
    std::fill(values.begin(), values.end(), kAbsent);
    const bool running = process_.running();
    // Reported once; then restarted less and less often.
    if (had_gpus_ && !running && !std::exchange(warned_, true)) {
      add_event("trainscope-gpu has ended; restarting it");
    }
    if (values.empty() || !running) {
      const bool look_again = !is_settled_ && monotonic_ns() >= retry_ns_;
      return look_again ? Sampled::layout_changed : Sampled::ok;
    }
    const int64_t now = monotonic_ns();
    if (is_only_job_ && message == GpuMessage::ask_row && now < next_row_ns_) return Sampled::ok;
    next_row_ns_ = now + kJobPeriod;
    find_job();
    switch (process_.ask_row(message, pids_, kRowLimit, context_->event_sink, row_)) {
      case GpuProcess::Answer::changed:
        return Sampled::layout_changed;
      case GpuProcess::Answer::none:
        return Sampled::ok;
      case GpuProcess::Answer::row:
        break;
    }
    retry_after_ns_ = kFirstRetry;
    warned_ = false;
    if (row_.size() != values.size() - kOwnColumns) return Sampled::layout_changed;
    fill_own(values);
    std::copy(row_.begin(), row_.end(), values.begin() + kOwnColumns);
    return Sampled::ok;
  }

  Status start() {
    earlier_cpu_ns_ += cpu_ns_;
    cpu_ns_ = 0;
    retry_ns_ = monotonic_ns() + back_off();
    TS_CHECK_OK(process_.start(context_->root, !context_->records_machine));
    const JobLink* job = context_->job;
    if (job != nullptr && job->gpu_pid != nullptr) *job->gpu_pid = process_.pid();
    (void)memory_.open(fmt::format("/proc/{}/statm", process_.pid()), 128);
    return {};
  }

  int64_t back_off() {
    const int64_t pause = retry_after_ns_;
    retry_after_ns_ = std::min(2 * retry_after_ns_, kLastRetry);
    return pause;
  }

  void add_event(const std::string& text) const {
    if (context_->event_sink) context_->event_sink("gpu", text);
  }

  // The processes of the job are not needed at every tick: finding them reads a file per process.
  void find_job() {
    const int64_t now = monotonic_ns();
    if (now < find_job_ns_) return;
    find_job_ns_ = now + kFindJobPeriod;
    job_.refresh();
    pids_.clear();
    for (const auto& [pid, stat] : job_.all()) pids_.push_back(pid);
  }

  // Of a rank that does not record the machine, unless it has a GPU of its own.
  void leave_out_machine(Opened& opened) {
    is_only_job_ =
        !context_->records_machine &&
        std::none_of(opened.columns.begin(), opened.columns.end(),
                     [](const Column& column) { return column.metric.starts_with("hw."); });
    if (!is_only_job_) return;
    std::erase_if(opened.missing,
                  [](const Missing& missing) { return !missing.metric.starts_with("job."); });
  }

  static Opened read_layout(const Json& layout) {
    if (!layout.is_object() || layout["columns"].empty()) {
      const bool object = layout.is_object();
      std::string reason =
          object ? layout.value("reason", "") : "trainscope-gpu is from another build";
      if (object && reason.empty() && !layout["missing"].empty()) {
        reason = layout["missing"][0].value("reason", "");
      }
      return all_missing(kMetrics, reason.empty() ? "no GPU was found" : reason,
                         object ? layout.value("remedy", "") : "");
    }
    Opened opened;
    const Labels own = {{"process", "gpu"}};
    opened.columns = {{"recorder.cpu.time", own, {1, 1'000'000}},
                      {"recorder.memory.usage", own, {::sysconf(_SC_PAGESIZE), 1}}};
    std::set<std::string_view> there;
    for (const auto& column : layout["columns"]) {
      const MetricSpec* spec = find_metric(entry, column.value("metric", ""));
      CHECK(spec != nullptr);  // both programs are of one build
      Labels labels;
      for (const auto& [name, value] : column["labels"].items()) labels.emplace_back(name, value);
      opened.columns.push_back({spec->name, labels, {column["scale"][0], column["scale"][1]}});
      there.insert(spec->name);
    }
    for (const auto& missing : layout["missing"]) {
      const MetricSpec* spec = find_metric(entry, missing.value("metric", ""));
      if (spec == nullptr || !there.insert(spec->name).second) continue;
      opened.missing.push_back(
          {spec->name, missing.value("reason", ""), missing.value("remedy", "")});
    }
    for (const MetricSpec& spec : kMetrics) {
      if (spec.name.starts_with("recorder.") || there.contains(spec.name)) continue;
      opened.missing.push_back({spec.name, "not reported by the GPU driver", ""});
    }
    return opened;
  }

  void fill_own(std::span<int64_t> values) {
    const int64_t cpu = process_cpu_ns(process_.pid());
    if (cpu >= 0) cpu_ns_ = cpu;
    values[0] = (earlier_cpu_ns_ + cpu_ns_) / 1000;
    values[1] = resident_pages(memory_).value_or(kAbsent);
  }

  const SourceContext* context_ = nullptr;
  GpuProcess process_;
  ProcFile memory_;
  JobMembers job_;
  std::vector<pid_t> pids_;
  int64_t find_job_ns_ = 0, next_row_ns_ = 0;
  bool is_only_job_ = false;
  bool is_open_ = false, warned_ = false, had_gpus_ = false, is_settled_ = false;
  std::vector<int64_t> row_;
  int64_t cpu_ns_ = 0, earlier_cpu_ns_ = 0;
  int64_t retry_ns_ = 0, retry_after_ns_ = kFirstRetry;
};

}  // namespace

const Collector entry = {
    .name = "gpu",
    .summary = "GPUs, in total and for the job",
    .needs = "trainscope-gpu next to trainscope; NVIDIA's driver library, or amdgpu, i915 or xe",
    .scope = Scope::machine,
    .is_on_every_rank = true,
    .pace = Pace::thread,
    .period_ns = 20'000'000,
    .rest_factor = 1,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<GpuSource>()); },
};

}  // namespace trainscope::gpu_collector
