// tegrastats: output or log of NVIDIA's tool of that name on a Jetson board.
//
// One line per sample (parse/parse.h), read twice: for the series and their times, then for
// the values. Times: if the lines begin with a timestamp (JetPack 5 and later), it gives the period
// and shows missing rows; it has whole seconds of an unknown time zone. If the clock was set, rows
// continue without a gap. Without timestamps the rows are `every_ns` apart, 1 s by default.
// Caveats, listed in the run's notes: times are nominal; a processor's utilisation is relative to
// its clock; PMIC reports 100 °C on every board before Orin.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "import/import.h"
#include "import/support/recording.h"
#include "parse/parse.h"

namespace trainscope::tegrastats_importer {

namespace {

// More than the largest board has ten times over.
constexpr size_t kMaxColumns = 1024;
constexpr size_t kMaxWords = 4096, kMaxWordBytes = 64;
constexpr size_t kShownWords = 5;
constexpr int64_t kMaxPeriodS = 3600;

std::string key_of(const TegraReading& reading) {
  return std::string(reading.metric) + '\n' + labels_text(reading.labels);
}

// A clock that goes back was set, and so was one that goes ahead by more than this: a board without
// a battery starts in 1970.
constexpr int64_t kMaxStepS = 86'400;

bool was_set(int64_t from_s, int64_t to_s) { return to_s < from_s || to_s - from_s > kMaxStepS; }

// The timestamps of lines in order, with whole seconds: finds the period. If the clock was set, a
// new stretch begins; the step between two stretches is ignored.
class ClockStatistics {
 public:
  void add(std::optional<int64_t> clock_s) {
    if (!clock_s) return;
    if (now_.rows > 0 && was_set(now_.last_s, *clock_s)) {
      add_whole_seconds(now_, whole_);
      now_ = {};
    }
    if (now_.rows == 0) {
      now_ = {*clock_s, *clock_s, 1, 1, 1};
      return;
    }
    const int64_t step = *clock_s - now_.last_s;
    ++steps_[static_cast<size_t>(std::min(step, kMaxPeriodS + 1))];
    ++pairs_;
    ++now_.rows;
    if (*clock_s == now_.first_s) ++now_.in_first_second;
    now_.in_last_second = step == 0 ? now_.in_last_second + 1 : 1;
    now_.last_s = *clock_s;
  }

  // The interval of the median pair, or the mean if several rows share a second; nothing if it
  // cannot be determined.
  std::optional<int64_t> period_ns() const {
    if (pairs_ == 0) return std::nullopt;
    if (steps_[0] * 10 > pairs_) return mean_distance();
    int64_t below = 0;
    for (int64_t step = 0; step <= kMaxPeriodS; ++step) {
      below += steps_[static_cast<size_t>(step)];
      if (below * 2 > pairs_) return step > 0 ? std::optional(step * kNsPerSecond) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  struct Stretch {
    int64_t first_s = 0, last_s = 0, rows = 0, in_first_second = 0, in_last_second = 0;
  };
  struct WholeSeconds {
    int64_t seconds = 0, rows = 0;
  };

  // The first and the last second of a stretch may have lost rows and are left out.
  static void add_whole_seconds(const Stretch& stretch, WholeSeconds& sum) {
    if (stretch.last_s - stretch.first_s < 2) return;
    sum.seconds += stretch.last_s - stretch.first_s - 1;
    sum.rows += stretch.rows - stretch.in_first_second - stretch.in_last_second;
  }

  // Nothing if there are fewer than two whole seconds.
  std::optional<int64_t> mean_distance() const {
    WholeSeconds all = whole_;
    add_whole_seconds(now_, all);
    if (all.seconds < 2 || all.rows <= 0) return std::nullopt;
    const double mean_s = static_cast<double>(all.seconds) / static_cast<double>(all.rows);
    return std::max<int64_t>(1, std::llround(mean_s * 1000)) * (kNsPerSecond / 1000);
  }

  Stretch now_;
  WholeSeconds whole_;  // of the stretches before
  int64_t pairs_ = 0;
  // How often each interval occurred; the last entry counts all longer ones.
  std::array<int64_t, kMaxPeriodS + 2> steps_{};
};

// The result of a first pass over all lines: the series, and the period.
class TegraTable {
 public:
  Status add(const TegraLine& line) {
    for (const TegraReading& reading : line.readings) {
      const auto [place, added] = places_.emplace(key_of(reading), columns_.size());
      if (added) {
        if (columns_.size() == kMaxColumns) {
          return Error(fmt::format("more than {} different fields", kMaxColumns));
        }
        columns_.push_back({std::string(reading.metric), reading.labels, std::string(reading.unit),
                            Kind::gauge, Scale{reading.numerator, reading.denominator}});
      }
      if (reading.metric == "system.memory.limit" && reading.raw && !memory_bytes_) {
        memory_bytes_ = static_cast<int64_t>(columns_[place->second].scale.apply(*reading.raw));
      }
    }
    for (const std::string& word : line.unknown) {
      if (unknown_.size() < kMaxWords) unknown_.insert(printable(word.substr(0, kMaxWordBytes)));
    }
    if (!first_clock_s_) first_clock_s_ = line.clock_s;
    clocks_.add(line.clock_s);
    ++rows_;
    return {};
  }

  size_t rows() const { return rows_; }
  std::optional<int64_t> first_clock_s() const { return first_clock_s_; }
  std::optional<int64_t> memory_bytes() const { return memory_bytes_; }
  const ClockStatistics& clocks() const { return clocks_; }
  const std::set<std::string>& unknown() const { return unknown_; }
  const std::map<std::string, size_t>& places() const { return places_; }
  const std::vector<ColumnData>& columns() const { return columns_; }
  bool has(std::string_view metric, const Labels& labels) const {
    return places_.contains(std::string(metric) + '\n' + labels_text(labels));
  }

 private:
  std::map<std::string, size_t> places_;
  std::vector<ColumnData> columns_;
  ClockStatistics clocks_;
  std::optional<int64_t> first_clock_s_, memory_bytes_;
  std::set<std::string> unknown_;
  size_t rows_ = 0;
};

// The tick of each row: according to its timestamp, but after the previous row. If the clock was
// set, counting starts again there.
class RowPlacer {
 public:
  explicit RowPlacer(int64_t period_ns) : period_ns_(period_ns) {}

  int64_t next(std::optional<int64_t> clock_s) {
    ++tick_;
    if (!clock_s) return tick_;
    if (last_s_ && was_set(*last_s_, *clock_s)) {
      (*clock_s < *last_s_ ? went_back_ : went_ahead_) = true;
      anchor_s_.reset();
    }
    if (!anchor_s_) {
      anchor_s_ = clock_s;
      anchor_tick_ = tick_;
    }
    last_s_ = clock_s;
    const double since_ns = static_cast<double>(*clock_s - *anchor_s_) * 1e9;
    tick_ = std::max<int64_t>(
        tick_, anchor_tick_ + std::llround(since_ns / static_cast<double>(period_ns_)));
    return tick_;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    if (went_back_) notes.emplace_back("the timestamps go back at some point");
    if (went_ahead_) {
      notes.emplace_back(
          "the timestamps jump ahead by more than a day: the clock was set, or nothing was logged; "
          "no gap is shown there");
    }
    return notes;
  }

 private:
  const int64_t period_ns_;
  int64_t tick_ = -1, anchor_tick_ = 0;
  std::optional<int64_t> anchor_s_, last_s_;
  bool went_back_ = false, went_ahead_ = false;
};

// The second look: the lines again, as rows.
class TegraRows : public RowSource {
 public:
  TegraRows(std::string path, LineReader lines, const TegraTable& table, int64_t period_ns)
      : path_(std::move(path)),
        lines_(std::move(lines)),
        places_(table.places()),
        left_(table.rows()),
        placer_(period_ns) {}

  Result<bool> next(RowTime& time, std::span<int64_t> values) override {
    TextLine line;
    if (left_ == 0) return false;
    --left_;
    TS_TRY(const bool more, lines_.next(line));
    if (!more) return changed(line.number);
    const auto parsed = parse_tegrastats(line.text);
    if (!parsed) return changed(line.number);
    std::fill(values.begin(), values.end(), kAbsent);
    for (const TegraReading& reading : parsed->readings) {
      const auto place = places_.find(key_of(reading));
      if (place == places_.end()) return changed(line.number);
      if (reading.raw) values[place->second] = *reading.raw;
    }
    time = {placer_.next(parsed->clock_s), 0};
    return true;
  }

  std::vector<std::string> notes() const override { return placer_.notes(); }

 private:
  Error changed(size_t line) const {
    return line_error(path_, line, "the file was changed while it was read");
  }

  const std::string path_;
  LineReader lines_;
  const std::map<std::string, size_t> places_;
  size_t left_;
  RowPlacer placer_;
};

std::string clock_text(int64_t clock_s) {
  const time_t time = clock_s;  // in nanoseconds the year 9999 would not fit
  struct tm parts {};
  char text[64] = {};
  if (::gmtime_r(&time, &parts) == nullptr) return "?";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

void add_notes(RunData& run, const TegraTable& table, bool by_clock) {
  std::vector<std::string>& notes = run.manifest.notes;
  const double period_s = static_cast<double>(run.manifest.period_ns) / 1e9;
  if (by_clock) {
    notes.push_back(fmt::format(
        "times are nominal, {:g} s apart: the timestamps have whole seconds; the first is {} (time "
        "zone unknown)",
        period_s, clock_text(*table.first_clock_s())));
  } else if (table.first_clock_s()) {
    notes.push_back(fmt::format(
        "the timestamps do not show how far apart the lines are: {:g} s is assumed (use "
        "--every to change it)",
        period_s));
  } else {
    notes.push_back(fmt::format(
        "the lines have no timestamps: rows are shown {:g} s apart (use --every to change it)",
        period_s));
  }
  notes.emplace_back(
      "CPU utilisation is relative to the clock that each core had; cpu=all is the mean of the "
      "cores that were on");
  if (table.has("hw.temperature", {{"sensor", "PMIC"}})) {
    notes.emplace_back(
        "the sensor PMIC reports 100 °C on every board before Orin, whatever the temperature");
  }
  if (table.unknown().empty()) return;
  std::string words;
  size_t shown = 0;
  for (const std::string& word : table.unknown()) {
    if (shown++ == kShownWords) break;
    words += (words.empty() ? "" : ", ") + word;
  }
  notes.push_back(
      fmt::format("{} unknown fields were left out: {}", table.unknown().size(), words));
}

Status look_at_lines(const std::string& path, RunData& run, TegraTable& table) {
  TS_TRY(LineReader lines, LineReader::open(path));
  for (TextLine line;;) {
    TS_TRY(const bool more, lines.next(line));
    if (!more) break;
    auto parsed = parse_tegrastats(line.text);
    if (!parsed && line.is_torn && table.rows() > 0) {
      run.manifest.notes.emplace_back("the last line is incomplete and left out");
      continue;
    }
    if (!parsed) return line_error(path, line.number, parsed.error().message());
    Status added = table.add(*parsed);
    if (!added) return line_error(path, line.number, added.error().message());
  }
  if (table.rows() == 0) return Error(path + ": no lines");
  return {};
}

Result<RunData> read(const ImportOptions& options) {
  RunData run = imported_run("tegrastats", options.path, 0);
  TegraTable table;
  TS_CHECK_OK(look_at_lines(options.path, run, table));
  const auto measured = table.clocks().period_ns();
  const bool by_clock = measured.has_value();
  run.manifest.period_ns = options.every_ns.value_or(by_clock ? *measured : int64_t{kNsPerSecond});
  add_notes(run, table, by_clock);
  run.columns = table.columns();
  Json host = Json::object();
  if (table.memory_bytes()) host["memory_bytes"] = *table.memory_bytes();
  run.host_json = dump_json(host);
  TS_TRY(LineReader lines, LineReader::open(options.path));
  run.rows =
      std::make_unique<TegraRows>(options.path, std::move(lines), table, run.manifest.period_ns);
  return run;
}

bool recognises(const std::string& path) {
  auto lines = LineReader::open(path);
  if (!lines) return false;
  TextLine line;
  const auto found = lines->next(line);
  return found && *found && looks_like_tegrastats(line.text);
}

}  // namespace

extern const Importer entry;
const Importer entry = {
    .name = "tegrastats",
    .summary = "output of NVIDIA's tegrastats on a Jetson board",
    .input = "the log file of tegrastats",
    .recognises = recognises,
    .read = read,
};

}  // namespace trainscope::tegrastats_importer
