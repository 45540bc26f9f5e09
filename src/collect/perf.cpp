// perf: instructions, cycles, cache misses and stalls of the job, as the processor counts them.
//
// Source: perf_event_open(2), counting, inherited by all processes that the job starts. Units:
// events, ns. Permission: kernel.perf_event_paranoid at most 2; at most 1, or root, to count the
// kernel's work for the job too (label mode: all, otherwise user). Cost: each thread switch of the
// job takes about 0.4 µs longer with the software events alone (two processes that pass a byte back
// and forth: 5 to 20 % slower), so it is only enabled by --perf; reading costs about 1 µs per
// thread and event, so the pause is a thousand times the reading time. Caveats: if there are more
// events than counters of the processor, they take turns and are scaled; perf.counted is the share
// of time in which an event was counted. For an attached job, and after a restart of the recorder,
// counting begins at 0 with the existing threads. A program that changes its user (setuid) is not
// counted. Most virtual machines have the software events only.
#include <fmt/format.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"
#include "collect/collect.h"
#include "collect/support/devices/perf_events.h"
#include "collect/support/missing.h"
#include "kernel/process_tree.h"

namespace trainscope::perf_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"perf.cycles", "{cycle}", Kind::counter, "mode", "Cycles of the job's threads"},
    {"perf.instructions", "{instruction}", Kind::counter, "mode",
     "Instructions finished by the job's threads; perf.ipc is instructions per cycle"},
    {"perf.cache.references", "{reference}", Kind::counter, "mode",
     "Accesses to the last level of cache"},
    {"perf.cache.misses", "{miss}", Kind::counter, "mode",
     "Accesses that missed the last level of cache"},
    {"perf.stalled.cycles", "{cycle}", Kind::counter, "mode, part",
     "Cycles in which nothing was issued (frontend) or finished (backend)"},
    {"perf.counted", "1", Kind::gauge, "event, mode",
     "Share of the job's running time in which an event was counted; the rest is extrapolated"},
    {"perf.task_clock", "s", Kind::counter, "mode", "CPU time of the job's threads"},
    {"perf.page_faults", "{fault}", Kind::counter, "mode", "Page faults of the job's threads"},
    {"perf.context_switches", "{switch}", Kind::counter, "mode",
     "Context switches of the job's threads"},
    {"perf.migrations", "{migration}", Kind::counter, "mode",
     "Migrations of the job's threads to another processor"},
};

struct PerfEvent {
  const char* metric;
  const char* part;  // a label of perf.stalled.cycles
  const char* name;  // the label of perf.counted
  PerfKind kind;
  Scale scale;
  bool in_kernel = false;  // happens there only, so user mode never sees it
};
constexpr Scale kNs{1, 1'000'000'000};
constexpr std::array<PerfEvent, 10> kEvents = {{
    {"perf.cycles", nullptr, "cycles", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}, {}},
    {"perf.instructions",
     nullptr,
     "instructions",
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true},
     {}},
    {"perf.cache.references",
     nullptr,
     "cache.references",
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
     {}},
    {"perf.cache.misses",
     nullptr,
     "cache.misses",
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
     {}},
    {"perf.stalled.cycles",
     "frontend",
     "stalled.frontend",
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
     {}},
    {"perf.stalled.cycles",
     "backend",
     "stalled.backend",
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
     {}},
    {"perf.task_clock", nullptr, nullptr, {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK}, kNs},
    {"perf.page_faults", nullptr, nullptr, {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}, {}},
    {"perf.context_switches",
     nullptr,
     nullptr,
     {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
     {},
     true},
    {"perf.migrations",
     nullptr,
     nullptr,
     {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
     {},
     true},
}};

constexpr int64_t kRestFactor = 1000;
constexpr const char* kNotAsked = "not enabled: counting makes each thread switch slower";
constexpr const char* kUserOnly = "the kernel's part is not shown: kernel.perf_event_paranoid is 2";
constexpr const char* kUserOnlyRemedy = "sudo sysctl kernel.perf_event_paranoid=1";

// The threads of the job that are there already.
std::vector<pid_t> threads_of(const std::string& root, pid_t first) {
  std::vector<pid_t> threads;
  std::vector<pid_t> processes = descendants(root, first);
  processes.insert(processes.begin(), first);
  for (const pid_t process : processes) {
    for (const std::string& name : names_in(fmt::format("{}/proc/{}/task", root, process))) {
      if (const auto id = parse_integer(name)) threads.push_back(static_cast<pid_t>(*id));
    }
  }
  return threads;
}

class PerfSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    counters_.clear();
    next_read_ns_ = 0;
    if (!context.perf) return all_missing(kMetrics, kNotAsked, "trainscope run --perf");
    choose_threads(context);
    if (threads_.empty())
      return all_missing(kMetrics, "the job was not running when counting began", "");
    user_only_ = !may_count_kernel();
    Opened opened;
    for (const PerfEvent& event : kEvents) add_event(event, context.root, opened);
    bool any_hardware = false;
    for (const Counter& counter : counters_) {
      if (counter.event->name == nullptr) continue;
      any_hardware = true;
      opened.columns.push_back(
          {"perf.counted", {{"event", counter.event->name}, {"mode", mode()}}, {1, 10'000}});
    }
    if (!any_hardware) {
      const auto cycles =
          std::find_if(opened.missing.begin(), opened.missing.end(),
                       [](const Missing& missing) { return missing.metric == "perf.cycles"; });
      CHECK(cycles != opened.missing.end());
      opened.missing.push_back({"perf.counted", cycles->reason, cycles->remedy});
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    std::fill(values.begin(), values.end(), kAbsent);
    if (monotonic_ns() < next_read_ns_) return Sampled::ok;
    // What others compute meanwhile on a busy machine is not the cost of reading.
    const int64_t begin = thread_cpu_ns();
    read_counters(values);
    const int64_t cost = thread_cpu_ns() - begin;
    // Below a millisecond a second it is read each time.
    if (cost > kNsPerSecond / kRestFactor) next_read_ns_ = monotonic_ns() + kRestFactor * cost;
    return Sampled::ok;
  }

  Sampled sample_last(std::span<int64_t> values) override {
    next_read_ns_ = 0;
    return sample(values);
  }

 private:
  struct Counter {
    const PerfEvent* event;
    std::vector<UniqueFd> fds;  // one per thread that existed at the start
    int64_t highest = 0;
  };

  void read_counters(std::span<int64_t> values) {
    size_t shares = counters_.size();
    for (size_t i = 0; i < counters_.size(); ++i) {
      Counter& counter = counters_[i];
      const auto sum = read_sum(counter);
      if (sum) {
        counter.highest = std::max<int64_t>(counter.highest, std::llround(sum->count));
        values[i] = counter.highest;
      }
      if (counter.event->name == nullptr) continue;
      if (sum && sum->enabled_ns > 0) {
        values[shares] = sum->running_ns * 10'000 / sum->enabled_ns;
      }
      ++shares;
    }
  }

  std::string mode() const { return user_only_ ? "user" : "all"; }

  // Before the job begins its parent is counted: a program that it starts is counted from its exec
  // on.
  void choose_threads(const SourceContext& context) {
    start_ = PerfStart::at_once;
    threads_ = {0};  // doctor: ourselves
    if (context.job == nullptr) return;
    if (const pid_t first = context.job->first_pid; first != 0) {
      threads_ = threads_of(context.root, first);
      return;
    }
    threads_.clear();
    const pid_t supervisor = context.self == nullptr ? 0 : context.self->supervisor_pid.load();
    if (supervisor == 0) return;
    threads_ = {supervisor};
    start_ = PerfStart::at_exec;
  }

  bool may_count_kernel() const {
    const PerfKind probe{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK};
    return static_cast<bool>(open_perf_event(probe, threads_[0], start_, false));
  }

  void add_event(const PerfEvent& event, const std::string& root, Opened& opened) {
    Labels labels = {{"mode", mode()}};
    if (event.part != nullptr) labels.emplace_back("part", event.part);
    if (event.in_kernel && user_only_) {
      opened.missing.push_back({event.metric, kUserOnly, kUserOnlyRemedy});
      return;
    }
    const Counter* leader =
        event.kind.follows_first && !counters_.empty() ? &counters_.front() : nullptr;
    Counter counter{&event, {}, 0};
    int error = 0;
    for (size_t i = 0; i < threads_.size(); ++i) {
      const int leader_fd = leader == nullptr ? -1 : leader->fds[i].get();
      // A thread that has ended in between keeps its index, or followers would miss their leaders.
      auto fd = leader != nullptr && leader_fd < 0
                    ? Result<UniqueFd>(UniqueFd())
                    : open_perf_event(event.kind, threads_[i], start_, user_only_, leader_fd);
      if (!fd) error = fd.error().error_number();
      if (!fd && error != ESRCH) break;
      counter.fds.push_back(fd ? std::move(*fd) : UniqueFd());
    }
    const bool some = std::any_of(counter.fds.begin(), counter.fds.end(),
                                  [](const UniqueFd& fd) { return static_cast<bool>(fd); });
    if (counter.fds.size() != threads_.size() || !some) {
      const PerfRefusal refusal =
          explain_perf_error(error, event.kind.type == PERF_TYPE_HARDWARE, root);
      opened.missing.push_back({event.metric, refusal.reason, refusal.remedy});
      return;
    }
    opened.columns.push_back({event.metric, labels, event.scale});
    counters_.push_back(std::move(counter));
  }

  // All threads together; nothing when one of them was never counted.
  static std::optional<PerfValue> read_sum(const Counter& counter) {
    PerfValue sum;
    for (const UniqueFd& fd : counter.fds) {
      if (!fd) continue;
      const auto value = read_perf_event(fd.get());
      if (!value) return std::nullopt;
      sum.count += value->count;
      sum.enabled_ns += value->enabled_ns;
      sum.running_ns += value->running_ns;
    }
    return sum;
  }

  std::vector<pid_t> threads_;
  PerfStart start_ = PerfStart::at_once;
  bool user_only_ = false;
  std::vector<Counter> counters_;
  int64_t next_read_ns_ = 0;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "perf",
    .summary = "instructions, cycles, cache misses and stalls of the job",
    .needs = "perf_event_open(2): kernel.perf_event_paranoid at most 2, a processor with counters",
    .scope = Scope::job,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<PerfSource>()); },
};

}  // namespace trainscope::perf_collector
