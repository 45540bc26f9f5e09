// Writes runs that would take days to record, and opens them.
//   bench-reads make HOME SERIES SECONDS PERIOD_MS STEPS [phases] [gpus] [RANK/SIZE]
//                                                          prints the folder of a new run; each
//                                                          step may report an input and a forward
//                                                          phase; all series may be of as many
//                                                          GPUs; the run may be a rank of a job
//   bench-reads open FOLDER                                prints CPU seconds and peak bytes of
//                                                          open_run
//
// A run has sources as a machine has them: memory (5 series), CPUs (8 series each, 80 % of all),
// network devices (10 %) and temperatures. From 200 series on there are fewer CPUs (60 %) and what
// the rules of `diagnose` read besides: the job, its threads, pressure, a disk and a GPU. Blocks
// and segments are as large as the recorder's.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "format/format.h"
#include "model/model.h"
#include "store/store.h"

using namespace trainscope;

namespace {

constexpr int64_t kBlockRows = 1000;
constexpr size_t kSegmentBytes = size_t{64} << 20;
constexpr int kZstdLevel = 3;
constexpr size_t kReportBytes = size_t{4} << 20;  // half of the recorder's ring
constexpr int64_t kLeastWithJob = 200;            // series

// How a column goes from row to row.
// `mostly` and `seldom` are shares of the time, in microseconds; `level` is a ratio in thousandths.
enum class Motion { busy, idle, still, bytes, noise, mostly, seldom, level };

struct Source {
  StoredSchema schema;
  std::vector<Motion> motions;
  std::vector<int64_t> last;

  void add(const char* metric, const Labels& labels, const char* unit, Kind kind,
           int64_t denominator, Motion motion) {
    schema.add({metric, labels, unit, kind, {1, denominator}, false});
    motions.push_back(motion);
    last.push_back(motion == Motion::noise ? 50'000 : 0);
  }
  void add_time(const char* metric, const Labels& labels, Motion motion) {
    add(metric, labels, "s", Kind::counter, 1'000'000, motion);
  }
  void add_bytes(const char* metric, const Labels& labels) {
    add(metric, labels, "By", Kind::counter, 1, Motion::bytes);
  }
};

Source memory_source() {
  Source source;
  source.schema.source = "memory";
  for (const char* state : {"used", "free", "cached", "buffers", "available"}) {
    source.add("system.memory.usage", {{"state", state}}, "By", Kind::gauge, 1, Motion::noise);
  }
  return source;
}

Source cpu_source(int64_t series) {
  Source source;
  source.schema.source = "cpu";
  for (int64_t cpu = 0; cpu < series / 8; ++cpu) {
    const std::string name = cpu == 0 ? "all" : std::to_string(cpu - 1);
    const auto add = [&](const char* state, Motion motion) {
      source.add("system.cpu.time", {{"cpu", name}, {"state", state}}, "s", Kind::counter, 100,
                 motion);
    };
    add("user", Motion::busy);
    add("system", Motion::busy);
    add("idle", Motion::idle);
    for (const char* state : {"nice", "iowait", "irq", "softirq", "steal"}) {
      add(state, Motion::still);
    }
  }
  return source;
}

Source network_source(int64_t series) {
  Source source;
  source.schema.source = "network";
  for (int64_t i = 0; i < series; ++i) {
    const Labels labels = {{"device", "eth" + std::to_string(i / 2)},
                           {"direction", i % 2 == 0 ? "receive" : "transmit"}};
    source.add("system.network.io", labels, "By", Kind::counter, 1, Motion::bytes);
  }
  return source;
}

Source job_source() {
  Source source;
  source.schema.source = "job";
  source.add_time("job.cpu.time", {{"mode", "user"}}, Motion::mostly);
  source.add_time("job.cpu.time", {{"mode", "system"}}, Motion::seldom);
  for (const char* direction : {"read", "write"}) {
    source.add_bytes("job.io.bytes", {{"direction", direction}});
    source.add_bytes("job.disk.io", {{"direction", direction}});
    source.add_bytes("system.disk.io", {{"device", "sda"}, {"direction", direction}});
    source.add_bytes("system.swap.io", {{"direction", direction}});
  }
  for (const char* type : {"major", "minor"}) {
    source.add("job.paging.faults", {{"type", type}}, "{fault}", Kind::counter, 1, Motion::still);
  }
  for (const char* resource : {"cpu", "io", "memory"}) {
    for (const char* kind : {"full", "some"}) {
      source.add_time("system.pressure.time", {{"kind", kind}, {"resource", resource}},
                      Motion::seldom);
    }
  }
  source.add_time("cgroup.cpu.throttled_time", {}, Motion::seldom);
  for (const char* process : {"recorder", "supervisor"}) {
    source.add_time("recorder.cpu.time", {{"process", process}}, Motion::seldom);
  }
  return source;
}

Source thread_source() {
  Source source;
  source.schema.source = "job_threads";
  for (const char* role : {"main", "busiest", "worker0", "worker1", "worker2", "worker3"}) {
    const bool is_main = std::string_view(role) == "main";
    const auto add = [&](const char* state, Motion motion) {
      source.add_time("job.thread.time", {{"role", role}, {"state", state}}, motion);
    };
    add("blocked", is_main ? Motion::seldom : Motion::mostly);
    add("runnable", Motion::seldom);
    add("running", is_main ? Motion::mostly : Motion::seldom);
  }
  for (const char* on : {"disk", "other"}) {
    source.add_time("job.thread.blocked", {{"on", on}, {"role", "main"}}, Motion::seldom);
  }
  return source;
}

Source gpu_source() {
  Source source;
  source.schema.source = "gpu";
  for (const char* metric :
       {"hw.gpu.utilization", "hw.gpu.sm_active", "hw.gpu.tensor_active", "hw.gpu.dram_active"}) {
    source.add(metric, {{"gpu", "0"}}, "1", Kind::gauge, 1000, Motion::level);
  }
  for (const char* direction : {"receive", "transmit"}) {
    source.add_bytes("hw.gpu.pcie.io", {{"direction", direction}, {"gpu", "0"}});
  }
  source.add("job.gpu.memory.usage", {{"gpu", "0"}}, "By", Kind::gauge, 1, Motion::noise);
  for (const char* reason : {"hw_thermal", "sw_power_cap"}) {
    source.add_time("hw.gpu.throttle.time", {{"gpu", "0"}, {"reason", reason}}, Motion::seldom);
  }
  return source;
}

// One series per GPU: the page of a run draws a chart for each.
Source gpus_source(int64_t gpus) {
  Source source;
  source.schema.source = "gpu";
  for (int64_t i = 0; i < gpus; ++i) {
    source.add("hw.gpu.utilization", {{"gpu", std::to_string(i)}}, "1", Kind::gauge, 1000,
               Motion::level);
  }
  return source;
}

Source sensor_source(int64_t series) {
  Source source;
  source.schema.source = "sensors";
  for (int64_t i = 0; i < series; ++i) {
    source.add("hw.temperature", {{"sensor", "sensor" + std::to_string(i)}}, "Cel", Kind::gauge,
               1000, Motion::noise);
  }
  return source;
}

struct Contents {
  int64_t series = 0, steps = 0;
  bool has_phases = false, has_only_gpus = false;
};

class RunMaker {
 public:
  RunMaker(const std::string& folder, const Contents& contents, int64_t period_ns, double seconds)
      : writer_(folder),
        period_ns_(period_ns),
        rows_(std::llround(seconds * 1e9) / period_ns),
        steps_(contents.steps),
        has_phases_(contents.has_phases) {
    if (contents.has_only_gpus) {
      sources_.push_back(gpus_source(contents.series));
    } else {
      add_sources(contents.series);
    }
    for (size_t i = 0; i < sources_.size(); ++i) {
      sources_[i].schema.number = i + 1;
      sources_[i].schema.period_ns = period_ns;
    }
  }

  Status make() {
    TS_CHECK_OK(begin_segment());
    for (int64_t first = 0; first < rows_; first += kBlockRows) {
      if (writer_.segment_bytes() > kSegmentBytes) TS_CHECK_OK(begin_segment());
      TS_CHECK_OK(writer_.append(block(first, std::min(first + kBlockRows, rows_))));
    }
    return {};
  }

 private:
  void add_sources(int64_t series) {
    const bool has_job = series >= kLeastWithJob;
    sources_.push_back(memory_source());
    sources_.push_back(cpu_source(series * (has_job ? 6 : 8) / 10));
    sources_.push_back(network_source(series / 10));
    if (has_job) {
      for (const auto& make_source : {job_source, thread_source, gpu_source}) {
        sources_.push_back(make_source());
      }
    }
    int64_t sensors = series;
    for (const Source& source : sources_) sensors -= static_cast<int64_t>(source.motions.size());
    sources_.push_back(sensor_source(sensors));
  }

  Status begin_segment() {
    const auto begun = writer_.begin(1, [this](uint32_t number) { return first_frames(number); });
    return begun ? Status() : begun.error();
  }

  std::string first_frames(uint32_t number) const {
    std::string frames;
    append_frame(frames, FrameType::head, 0,
                 dump_json(Json{{"segment", number}, {"incarnation", 1}}));
    for (const Source& source : sources_) {
      append_frame(frames, FrameType::schema, 0, schema_json(source.schema));
    }
    return frames;
  }

  std::string block(int64_t first, int64_t end) {
    ++block_;
    std::string frames;
    std::vector<RowTime> times;
    for (int64_t tick = first; tick < end; ++tick) times.push_back({tick, 50 + below(40)});
    append_times(frames, 0, block_, times);
    for (size_t i = 0; i < sources_.size(); ++i) append_columns(frames, i, times.size());
    if (steps_ > 0) append_reports(frames, first, end);
    return frames;
  }

  void append_columns(std::string& frames, size_t number, size_t rows) {
    Source& source = sources_[number];
    const size_t columns = source.motions.size();
    values_.resize(rows * columns);
    std::vector<const int64_t*> pointers;
    for (size_t r = 0; r < rows; ++r) {
      pointers.push_back(values_.data() + r * columns);
      for (size_t c = 0; c < columns; ++c) {
        const Motion motion = source.motions[c];
        int64_t& value = source.last[c];
        value = motion == Motion::level ? below(1000) : value + increase(motion);
        values_[r * columns + c] = value;
      }
    }
    trainscope::append_columns(frames, source.schema.number, block_, pointers, columns,
                               {source.schema.totals, kZstdLevel});
  }

  // Evenly over the run, "step N loss=X" as a training job reports it; a tenth of its time waits
  // for data.
  void append_reports(std::string& frames, int64_t first_row, int64_t end_row) {
    const int64_t end = end_row * steps_ / rows_;
    const double step_ns =
        static_cast<double>(rows_) / static_cast<double>(steps_) * static_cast<double>(period_ns_);
    while (next_step_ < end) {
      std::string lines = fmt::format("{}\n", next_step_ * (has_phases_ ? 5 : 1));
      for (; next_step_ < end && lines.size() < kReportBytes; ++next_step_) {
        const auto end_ns = static_cast<int64_t>(static_cast<double>(next_step_) * step_ns);
        const int64_t time_ns = std::max(end_ns, first_row * period_ns_);
        if (has_phases_) append_phases(lines, time_ns, static_cast<int64_t>(step_ns / 10));
        lines +=
            fmt::format("{} pipe step {} loss=0.{}\n", time_ns, next_step_ + 1, 1000 + below(9000));
      }
      append_frame(frames, FrameType::step, kFrameZstd, compress(lines, kZstdLevel));
    }
  }

  static void append_phases(std::string& lines, int64_t end_ns, int64_t tenth_ns) {
    for (const auto& [name, from, to] : {std::tuple("input", 10, 9), std::tuple("forward", 9, 1)}) {
      lines +=
          fmt::format("{} pipe begin {}\n", std::max<int64_t>(0, end_ns - from * tenth_ns), name);
      lines += fmt::format("{} pipe end {}\n", std::max<int64_t>(0, end_ns - to * tenth_ns), name);
    }
  }

  int64_t increase(Motion motion) {
    switch (motion) {
      case Motion::busy:
        return below(8) < 7 ? 0 : 1;
      case Motion::idle:
        return 8 + below(3);
      case Motion::still:
        return below(1000) == 0 ? 1 : 0;
      case Motion::bytes:
        return below(4) == 0 ? below(100'000) : 0;
      case Motion::noise:
        return below(4) == 0 ? 500 * (below(3) - 1) : 0;
      case Motion::mostly:
        return period_ns_ / 1000 - below(period_ns_ / 5000);
      case Motion::seldom:
        return below(period_ns_ / 20'000);
      case Motion::level:
        return 0;
    }
    return 0;
  }

  int64_t below(int64_t limit) {
    random_ ^= random_ << 13U;
    random_ ^= random_ >> 7U;
    random_ ^= random_ << 17U;
    return static_cast<int64_t>(random_ >> 33U) % limit;
  }

  SegmentWriter writer_;
  const int64_t period_ns_, rows_, steps_;
  const bool has_phases_;
  std::vector<Source> sources_;
  std::vector<int64_t> values_;
  uint64_t block_ = 0, random_ = 88172645463325252U;
  int64_t next_step_ = 0;
};

// "3/64" makes a run rank 3 of 64.
Status set_rank(const std::string& text, Manifest& manifest) {
  const size_t slash = text.find('/');
  const auto rank = parse_integer(text.substr(0, slash));
  const auto size = slash == text.npos ? std::nullopt : parse_integer(text.substr(slash + 1));
  if (!rank || !size) return Error("'" + text + "' is neither phases nor gpus nor RANK/SIZE");
  manifest.job = "slurm-1.0";
  manifest.rank = manifest.local_rank = *rank;
  manifest.world_size = *size;
  return {};
}

// `words`: SERIES SECONDS PERIOD_MS STEPS and what may follow.
Status make_run(const std::string& home, std::span<char* const> words) {
  Manifest manifest;
  Contents contents = {std::atoll(words[0]), std::atoll(words[3])};
  for (const std::string word : words.subspan(4)) {
    if (word == "phases") {
      contents.has_phases = true;
    } else if (word == "gpus") {
      contents.has_only_gpus = true;
    } else {
      TS_CHECK_OK(set_rank(word, manifest));
    }
  }
  const int64_t period_ns = std::atoll(words[2]) * kNsPerMs;
  const double seconds = std::atof(words[1]);
  TS_TRY(const NewRun run, create_run(home));
  TS_CHECK_OK(RunMaker(run.path, contents, period_ns, seconds).make());
  manifest.id = run.id;
  manifest.command = {"true"};
  manifest.started = "2026-01-01T00:00:00.000Z";
  manifest.ended = "2026-02-01T00:00:00.000Z";
  manifest.ended_by = EndedBy::exit;
  manifest.exit_code = 0;
  manifest.period_ns = period_ns;
  manifest.duration_s = seconds - static_cast<double>(period_ns) / 1e9;
  TS_CHECK_OK(write_manifest(run.path, manifest));
  std::printf("%s\n", run.path.c_str());
  return {};
}

double cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Status time_opening(const std::string& folder) {
  const double begin_s = cpu_s();
  const auto run = open_run(folder);
  const double end_s = cpu_s();
  if (!run) return run.error();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%.6f\t%ld\n", end_s - begin_s, usage.ru_maxrss * 1024);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  Status done = Error(
      "usage: bench-reads make HOME SERIES SECONDS PERIOD_MS STEPS [phases] [gpus] [RANK/SIZE] | "
      "open FOLDER");
  const std::span<char* const> words(argv, static_cast<size_t>(argc));
  if (mode == "make" && argc >= 7) done = make_run(argv[2], words.subspan(3));
  if (mode == "open" && argc == 3) done = time_opening(argv[2]);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
