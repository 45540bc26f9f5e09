#include "report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "document/document.h"

namespace trainscope {

namespace {

constexpr double kMostWindows = 200;
// Neighbours further apart than so many windows or periods have a gap between them.
constexpr double kGapWindows = 3.5;

constexpr std::array kStepTime = {ChartMetric{"train.step.duration", "step time"},
                                  ChartMetric{"train.input_wait", "input wait"}};
constexpr std::array kLoss = {ChartMetric{"train.loss", ""}};
constexpr std::array kProcessor = {ChartMetric{"job.cpu.utilization", "job"},
                                   ChartMetric{"system.cpu.utilization", "machine", "cpu", "all"}};
constexpr std::array kMemory = {ChartMetric{"job.memory.usage", "job"},
                                ChartMetric{"system.memory.usage", "machine", "state", "used"}};
constexpr std::array kDisk = {ChartMetric{"system.disk.io", ""}};
constexpr std::array kNetwork = {ChartMetric{"system.network.io", ""}};
constexpr std::array kGpu = {ChartMetric{"hw.gpu.utilization", "GPU"}};
constexpr std::array kTemperature = {ChartMetric{"hw.gpu.temperature", "GPU"},
                                     ChartMetric{"hw.temperature", ""}};
constexpr std::array kPower = {ChartMetric{"hw.gpu.power", "GPU"}, ChartMetric{"hw.power", ""},
                               ChartMetric{"hw.energy", ""}};
constexpr std::array kPressure = {ChartMetric{"system.pressure.time", "", "kind", "some"}};

constexpr std::array<Chart, 10> kCharts = {{
    {"step_time", "Step time", "step time", "duration of a training step", "s", true, kStepTime,
     true},
    {"loss", "Loss", "loss", "loss as the job reports it", "", false, kLoss},
    {"processor", "Processor", "use of the CPUs", "CPU time of job and machine", "%", true,
     kProcessor},
    {"memory", "Memory", "memory", "memory of job and machine", "By", true, kMemory},
    {"disk", "Disk", "throughput", "bytes that disks read and wrote", "By/s", true, kDisk},
    {"network", "Network", "throughput", "bytes that network interfaces moved", "By/s", true,
     kNetwork},
    {"gpu", "GPU", "use of the GPU", "time in which a GPU computed", "%", true, kGpu},
    {"temperature", "Temperature", "temperature", "sensors of the machine and GPUs", "Cel", false,
     kTemperature},
    {"power", "Power", "power", "power of the machine and GPUs", "W", true, kPower},
    {"pressure", "Pressure", "tasks waiting", "time in which tasks waited for a resource", "%",
     true, kPressure},
}};

bool has_label_value(const Series& series, const ChartMetric& metric) {
  if (metric.label.empty()) return true;
  return std::any_of(series.labels.begin(), series.labels.end(), [&](const auto& label) {
    return label.first == metric.label && label.second == metric.label_value;
  });
}

// "GPU 0", "sda read", "train": what tells the lines of a chart apart.
std::string line_name(const Series& series, const ChartMetric& metric) {
  std::string name(metric.name);
  for (const auto& [label, value] : series.labels) {
    if (label == metric.label || label == "source" || label == "kind") continue;
    name += (name.empty() ? "" : " ") + value;
  }
  return name.empty() ? series.metric : name;
}

struct ChartSeries {
  size_t place;
  std::string name;
};

std::vector<ChartSeries> chart_series(const RunView& run, const Chart& chart) {
  std::vector<ChartSeries> found;
  const std::vector<Series>& all = run.series();
  for (const ChartMetric& metric : chart.metrics) {
    for (size_t i = 0; i < all.size(); ++i) {
      const bool is_one = all[i].metric == metric.metric && all[i].status != SeriesStatus::absent;
      if (is_one && has_label_value(all[i], metric)) {
        found.push_back({i, line_name(all[i], metric)});
      }
    }
  }
  return found;
}

// Why there is nothing to draw, in the words of the run.
Error nothing_to_draw(const RunView& run, const Chart& chart) {
  for (const ChartMetric& metric : chart.metrics) {
    for (const Series& series : run.series()) {
      if (series.metric != metric.metric || series.reason.empty()) continue;
      return Error(fmt::format("run {} has nothing to draw for {}: {}{}{}", run.manifest().id,
                               chart.name, series.reason, series.remedy.empty() ? "" : "; ",
                               series.remedy));
    }
  }
  return Error(fmt::format("run {} has nothing to draw for {}: {} was not recorded",
                           run.manifest().id, chart.name, chart.metrics.front().metric));
}

// Windows of a picture, not shorter than the sampling period. The last one has the last instant: a
// window for it alone would be a point that jumps.
TimeWindows picture_windows(const RunView& run) {
  constexpr double kRounding = 1 + 1e-12;  // so that the windows reach the end
  const double duration_s = std::max(run.duration_s(), 1e-3);
  const double length_s = std::max(duration_s / kMostWindows * kRounding, run.sampling().period_s);
  return {0, length_s, windows_to(duration_s, length_s)};
}

// Where nothing was recorded, and for charts that stop in them the reported pauses. By time; those
// that are within another do not count.
std::vector<Interruption> interruptions_of(const RunView& run, const Chart& chart) {
  std::vector<Interruption> all;
  for (const Gap& gap : run.sampling().gaps) all.push_back({gap.from_s, gap.to_s});
  if (chart.stops_in_pauses) {
    for (const TrainingPhase& phase : run.training().phases) {
      if (phase.is_pause()) all.push_back({phase.from_s, phase.to_s});
    }
  }
  std::sort(all.begin(), all.end(), [](const Interruption& a, const Interruption& b) {
    return std::pair(a.from_s, b.to_s) < std::pair(b.from_s, a.to_s);
  });
  double end_s = 0;
  std::erase_if(all, [&](const Interruption& one) {
    const bool is_within = one.to_s <= end_s;
    end_s = std::max(end_s, one.to_s);
    return is_within;
  });
  return all;
}

// The usual distance of neighbours: some drivers have new values less often than they are asked.
double usual_spacing_s(const std::vector<double>& times_s) {
  std::vector<double> spacings;
  for (size_t i = 1; i < times_s.size(); ++i) spacings.push_back(times_s[i] - times_s[i - 1]);
  if (spacings.empty()) return 0;
  const auto middle = spacings.begin() + static_cast<ptrdiff_t>(spacings.size() / 2);
  std::nth_element(spacings.begin(), middle, spacings.end());
  return *middle;
}

PictureLine line_of(const FoldedSeries& folded, const Series& series, double duration_s,
                    const std::vector<Interruption>& interruptions) {
  PictureLine line;
  for (size_t w = 0; w < folded.windows.size(); ++w) {
    const FoldedWindow& window = folded.windows[w];
    if (window.is_empty()) continue;
    // Of the last one only a part may be within the run.
    line.time_s.push_back(
        std::min(folded.middle_s(w), (folded.middle_s(w) - folded.window_s / 2 + duration_s) / 2));
    line.mean.push_back(window.sum / window.weight);
    line.low.push_back(window.min);
    line.high.push_back(window.max);
  }
  if (series.period_s > 0) {
    line.most_apart_s =
        kGapWindows * std::max({series.period_s, folded.window_s, usual_spacing_s(line.time_s)});
  }
  // A shorter one leaves no window without a value. A step may end within the window in which an
  // interruption begins.
  const double half_s = folded.window_s / 2;
  for (const Interruption& one : interruptions) {
    if (one.to_s - one.from_s < folded.window_s) continue;
    line.interruptions.push_back({one.from_s + half_s, one.to_s - half_s});
  }
  return line;
}

double mean_of(const PictureLine& line) {
  return std::accumulate(line.mean.begin(), line.mean.end(), 0.0) /
         static_cast<double>(std::max<size_t>(1, line.mean.size()));
}

bool is_idle(const PictureLine& line) {
  return std::all_of(line.high.begin(), line.high.end(), [](double value) { return value == 0; }) &&
         std::all_of(line.low.begin(), line.low.end(), [](double value) { return value == 0; });
}

// Two senders may report the same: the one that reported more often is drawn.
void add_line(std::vector<PictureLine>& lines, PictureLine line) {
  for (PictureLine& other : lines) {
    if (other.name != line.name) continue;
    if (line.mean.size() > other.mean.size()) other = std::move(line);
    return;
  }
  lines.push_back(std::move(line));
}

// The lines with the largest means, in their order.
void keep_largest(ChartLines& chart, size_t most) {
  if (chart.lines.size() <= most) return;
  std::vector<double> means;
  for (const PictureLine& line : chart.lines) means.push_back(mean_of(line));
  std::vector<size_t> order(means.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return means[a] > means[b]; });
  order.resize(most);
  std::sort(order.begin(), order.end());
  std::vector<PictureLine> kept;
  for (const size_t i : order) kept.push_back(std::move(chart.lines[i]));
  chart.left_out = means.size() - most;
  chart.lines = std::move(kept);
}

}  // namespace

std::span<const Chart> charts() { return kCharts; }

const Chart* find_chart(std::string_view name) {
  for (const Chart& chart : kCharts) {
    if (chart.name == name) return &chart;
  }
  return nullptr;
}

Result<ChartLines> read_chart(const RunView& run, const Chart& chart, size_t most) {
  const std::vector<ChartSeries> found = chart_series(run, chart);
  std::vector<WindowQuery> queries;
  for (const ChartSeries& one : found) {
    const bool is_counter = run.series()[one.place].kind == Kind::counter;
    queries.push_back({one.place, is_counter ? Reading::rate : Reading::level});
  }
  TS_TRY(const std::vector<FoldedSeries> folded, fold_series(run, queries, picture_windows(run)));
  ChartLines read;
  const std::vector<Interruption> interruptions = interruptions_of(run, chart);
  std::vector<PictureLine> idle;
  for (size_t i = 0; i < found.size(); ++i) {
    PictureLine line =
        line_of(folded[i], run.series()[found[i].place], run.duration_s(), interruptions);
    line.name = found[i].name;
    if (line.mean.empty()) continue;
    std::vector<PictureLine>& lines = is_idle(line) ? idle : read.lines;
    add_line(lines, std::move(line));
  }
  // A chart of idle devices shows one of them: nothing happened is an answer too.
  if (read.lines.empty() && !idle.empty()) read.lines.push_back(std::move(idle.front()));
  if (read.lines.empty()) return nothing_to_draw(run, chart);
  keep_largest(read, most);
  return read;
}

}  // namespace trainscope
