// recorder: overhead of recording.
//
// Source: the CPU clocks of our processes, /proc/PID/statm, our own counts. Units: µs, pages,
// bytes. Permission: none. Cost: 2 µs, once per second. Caveats: the CPU time of recorders that
// died is included, that of their GPU processes (source gpu) is not; the kernel's write-back of our
// files is not visible. The jitter of every tick is part of its time.
#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.h"
#include "collect/collect.h"
#include "kernel/proc_file.h"

namespace trainscope::recorder_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"recorder.cpu.time", "s", Kind::counter, "process", "CPU time of Trainscope's processes"},
    {"recorder.memory.usage", "By", Kind::gauge, "process",
     "Resident memory of Trainscope's processes"},
    {"recorder.bytes_written", "By", Kind::counter, "process", "Bytes written to the run folder"},
    {"recorder.missed_ticks", "{tick}", Kind::counter, "process", "Missed ticks"},
};

class RecorderSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    self_ = context.self;
    supervisor_ = self_ == nullptr ? 0 : self_->supervisor_pid.load();
    (void)own_memory_.open(context.root + "/proc/self/statm", 128);
    (void)supervisor_memory_.open(fmt::format("{}/proc/{}/statm", context.root, supervisor_), 128);
    const Scale micro{1, 1'000'000}, pages{::sysconf(_SC_PAGESIZE), 1};
    const Labels recorder = {{"process", "recorder"}}, supervisor = {{"process", "supervisor"}};
    Opened opened;
    opened.columns = {
        {"recorder.cpu.time", recorder, micro},     {"recorder.cpu.time", supervisor, micro},
        {"recorder.memory.usage", recorder, pages}, {"recorder.memory.usage", supervisor, pages},
        {"recorder.bytes_written", recorder, {}},   {"recorder.missed_ticks", recorder, {}}};
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    const int64_t earlier = self_ == nullptr ? 0 : self_->earlier_cpu_ns.load();
    values[0] = (clock_ns(CLOCK_PROCESS_CPUTIME_ID) + earlier) / 1000;
    const int64_t supervisor_ns = supervisor_ == 0 ? -1 : process_cpu_ns(supervisor_);
    values[1] = supervisor_ns < 0 ? kAbsent : supervisor_ns / 1000;
    values[2] = resident_pages(own_memory_).value_or(kAbsent);
    values[3] = resident_pages(supervisor_memory_).value_or(kAbsent);
    values[4] = self_ == nullptr ? kAbsent : self_->bytes_written.load();
    values[5] = self_ == nullptr ? kAbsent : self_->missed_ticks.load();
    return Sampled::ok;
  }

 private:
  const SelfLink* self_ = nullptr;
  pid_t supervisor_ = 0;
  ProcFile own_memory_, supervisor_memory_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "recorder",
    .summary = "overhead of recording",
    .needs = "nothing",
    .scope = Scope::recorder,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<RecorderSource>()); },
};

}  // namespace trainscope::recorder_collector
