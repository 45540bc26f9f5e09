// cpu: time of every processor by state, context switches, runnable tasks.
//
// Source: /proc/stat. Units: clock ticks (USER_HZ, 100 on all known Linux systems), stored as
// ticks. Permission: none. Cost: one pread, 3 µs and 1 µs of parsing on 2 processors. Caveats: the
// kernel counts in 10 ms ticks; steal is time taken by the hypervisor; iowait is only a hint.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::cpu_collector {

namespace {

constexpr std::array<std::string_view, 8> kStates = {"user",   "nice", "system",  "idle",
                                                     "iowait", "irq",  "softirq", "steal"};

constexpr MetricSpec kMetrics[] = {
    {"system.cpu.time", "s", Kind::counter, "cpu, state",
     "Time spent in each state, per processor and in total"},
    {"system.cpu.context_switches", "{switch}", Kind::counter, "",
     "Context switches of the whole machine"},
    {"system.cpu.run_queue", "{task}", Kind::gauge, "", "Tasks running or ready to run",
     in_info(302)},
};

class CpuSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    Opened opened;
    cpus_.clear();
    const std::string path = "/proc/stat";
    if (Status status = file_.open(context.root + path, 256 * 1024); !status) {
      return all_missing(kMetrics, read_error_text(path, status.error()), kMountProc);
    }
    const Scale ticks{1, sysconf(_SC_CLK_TCK)};
    Scanner scan(file_.read());
    int64_t number = 0;
    while (scan.take("cpu")) {
      scan.number(number);  // of the first line, "cpu  1234", this is a time and not used
      // With the blank after it, or cpu1 would be found in the line of cpu10.
      cpus_.push_back(cpus_.empty() ? "all " : std::to_string(number) + " ");
      scan.next_line();
    }
    if (cpus_.empty()) return all_missing(kMetrics, path + " lists no processors", "");
    for (const std::string& name : cpus_) {
      const std::string cpu = name.substr(0, name.size() - 1);
      for (const std::string_view state : kStates) {
        opened.columns.push_back(
            {"system.cpu.time", {{"cpu", cpu}, {"state", std::string(state)}}, ticks});
      }
    }
    opened.columns.push_back({"system.cpu.context_switches", {}, {}});
    opened.columns.push_back({"system.cpu.run_queue", {}, {}});
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    std::fill(values.begin(), values.end(), kAbsent);
    Scanner scan(file_.read());
    size_t cpu = 0;
    while (scan.take("cpu")) {
      // A processor that went offline or came back changes the lines: look again.
      if (cpu >= cpus_.size() || (cpu > 0 && !scan.take(cpus_[cpu]))) {
        return Sampled::layout_changed;
      }
      int64_t* out = &values[cpu * kStates.size()];
      for (size_t state = 0; state < kStates.size(); ++state) {
        int64_t value = 0;
        if (scan.number(value)) out[state] = value;
      }
      scan.next_line();
      ++cpu;
    }
    if (cpu == 0) return Sampled::ok;  // nothing could be read
    if (cpu != cpus_.size()) return Sampled::layout_changed;
    const size_t rest = cpus_.size() * kStates.size();
    while (!scan.done()) {
      if (scan.take("ctxt ")) {
        scan.number(values[rest]);
      } else if (scan.take("procs_running ")) {
        scan.number(values[rest + 1]);
        break;
      }
      scan.next_line();
    }
    return Sampled::ok;
  }

 private:
  ProcFile file_;
  std::vector<std::string> cpus_;  // "all ", "0 ", "1 ", …
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "cpu",
    .summary = "time of every processor by state",
    .needs = "/proc/stat",
    .scope = Scope::machine,
    .pace = Pace::tick,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<CpuSource>()); },
};

}  // namespace trainscope::cpu_collector
