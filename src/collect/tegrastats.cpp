// tegrastats: the GPU of a Jetson board from NVIDIA's own tool, if /sys does not show its load.
//
// Source: the lines of `tegrastats --interval 1000`, which runs as long as the recorder. Units:
// percent, MHz, milliwatts, °C. Permission: none; without root some boards omit clocks or loads.
// Cost: 20 µs per line here, and a separate process that takes about 1 % of a core. Caveats: once
// per second whatever --every is; if a line is late, its values are absent; if tegrastats ends, it
// is restarted, at most once per minute. Only values that no other source has are used:
// temperatures, memory and processors are in the lines too.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/clock.h"
#include "collect/collect.h"
#include "collect/support/devices/jetson.h"
#include "collect/support/missing.h"
#include "collect/support/programs/child_lines.h"
#include "parse/parse.h"

namespace trainscope::tegrastats_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"hw.gpu.utilization", "1", Kind::gauge, "gpu", "Share of time in which the GPU was busy",
     in_info(601)},
    {"hw.gpu.clock", "Hz", Kind::gauge, "clock, gpu", "Clocks of the GPU and of its memory"},
    {"hw.gpu.memory.controller.utilization", "1", Kind::gauge, "gpu",
     "Share of time in which the memory controller was busy"},
    {"hw.gpu.temperature", "Cel", Kind::gauge, "gpu", "Temperature of the GPU", in_info(604)},
    {"jetson.engine.clock", "Hz", Kind::gauge, "engine", "Clocks of encoders and other engines"},
    {"jetson.engine.utilization", "1", Kind::gauge, "engine", "Load of encoders and other engines"},
    {"hw.power", "W", Kind::gauge, "sensor", "Power by rail", in_info(502).unless_idle()},
};

constexpr int64_t kPeriodNs = kNsPerSecond;
constexpr int64_t kFirstLineNs = 5 * kNsPerSecond;
constexpr int64_t kRestartNs = 60 * kNsPerSecond;

std::string program_of(const std::string& root) {
  for (const char* path : {"/usr/bin/tegrastats", "/usr/sbin/tegrastats"}) {
    if (::access((root + path).c_str(), X_OK) == 0) return root + path;
  }
  return "";
}

class TegrastatsSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    const std::string& root = context.root;
    event_sink_ = context.event_sink;
    wanted_.clear();
    if (!jetson_gpu_load(root).empty()) {
      child_.stop();
      return all_missing(kMetrics, "/sys shows the GPU's load, so tegrastats is not used", "");
    }
    program_ = program_of(root);
    if (program_.empty()) {
      const bool here = is_jetson(root);
      return all_missing(kMetrics, here ? "tegrastats is not installed" : kNoJetson,
                         here ? "sudo apt install nvidia-l4t-tools" : "");
    }
    const bool has_rails = !jetson_rails(root).empty();
    if (!child_.is_running()) {
      if (const Status started = start(); !started)
        return all_missing(kMetrics, started.error().message(), "");
    }
    std::string line;
    const bool came = child_.wait_for_line(line, kFirstLineNs);
    const auto parsed =
        came ? parse_tegrastats(line) : Result<TegraLine>(Error("it printed nothing"));
    if (!parsed) {
      child_.stop();
      return all_missing(kMetrics, "tegrastats: " + parsed.error().message(), "");
    }
    return describe(*parsed, has_rails);
  }

  Sampled sample(std::span<int64_t> values) override {
    std::fill(values.begin(), values.end(), kAbsent);
    if (values.empty()) return Sampled::ok;
    std::string line;
    if (!child_.newest_line(line)) {
      restart_if_ended();
      return Sampled::ok;
    }
    const auto parsed = parse_tegrastats(line);
    if (!parsed) return Sampled::ok;
    for (const TegraReading& reading : parsed->readings) {
      if (!reading.raw) continue;
      for (size_t i = 0; i < wanted_.size(); ++i) {
        const bool same =
            wanted_[i].metric == reading.metric && wanted_[i].labels == reading.labels;
        if (same && *reading.raw >= 0) values[i] = *reading.raw;
      }
    }
    return Sampled::ok;
  }

 private:
  Status start() { return child_.start(program_, {"--interval", "1000"}); }

  void restart_if_ended() {
    const int64_t now = monotonic_ns();
    if (child_.is_running() || now < next_start_ns_) return;
    next_start_ns_ = now + kRestartNs;
    const Status started = start();
    if (std::exchange(reported_end_, true) || !event_sink_) return;
    event_sink_("tegrastats", started ? "tegrastats has ended; it was restarted"
                                      : "tegrastats has ended: " + started.error().message());
  }

  Opened describe(const TegraLine& line, bool has_rails) {
    Opened opened;
    for (const TegraReading& reading : line.readings) {
      const auto spec =
          std::find_if(std::begin(kMetrics), std::end(kMetrics),
                       [&](const MetricSpec& metric) { return metric.name == reading.metric; });
      if (spec == std::end(kMetrics) || (has_rails && reading.metric == "hw.power")) continue;
      const bool known = std::any_of(wanted_.begin(), wanted_.end(), [&](const Column& column) {
        return column.metric == reading.metric && column.labels == reading.labels;
      });
      if (known) continue;
      wanted_.push_back({spec->name, reading.labels, {reading.numerator, reading.denominator}});
    }
    opened.columns = wanted_;
    for (const MetricSpec& spec : kMetrics) {
      const bool there = std::any_of(wanted_.begin(), wanted_.end(), [&](const Column& column) {
        return column.metric == spec.name;
      });
      if (!there) opened.missing.push_back({spec.name, "not reported by tegrastats", ""});
    }
    return opened;
  }

  ChildLines child_;
  std::string program_;
  std::vector<Column> wanted_;
  int64_t next_start_ns_ = 0;
  bool reported_end_ = false;
  std::function<void(const std::string&, const std::string&)> event_sink_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "tegrastats",
    .summary = "GPU load of a Jetson board from NVIDIA's tool, if /sys does not show it",
    .needs = "the program tegrastats",
    .scope = Scope::machine,
    .pace = Pace::thread,
    .period_ns = kPeriodNs,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<TegrastatsSource>()); },
};

}  // namespace trainscope::tegrastats_collector
