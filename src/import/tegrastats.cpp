// tegrastats: what NVIDIA's tool of that name printed or logged on a Jetson board.
//
// One line a sample (parse/tegrastats.h). Times: with a clock in front of the lines (JetPack 5 and
// later) the distance between rows is found from it and missing rows are seen; it tells whole
// seconds of an unknown zone. Without one the rows are `every_ns` apart, 1 s when it is not given.
// Caveats, told in the run's notes: times are nominal; a processor's share is relative to the clock
// that it had; PMIC says 100 °C on every board before Orin.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.h"
#include "base/statistics.h"
#include "base/text.h"
#include "import/import.h"
#include "import/support/recording.h"
#include "parse/tegrastats.h"

namespace trainscope {

namespace {

constexpr size_t kMaxColumns = 4096;
constexpr size_t kLookedAtBytes = 64 * 1024;
constexpr size_t kShownWords = 5;

// Puts lines together to columns; a series that a line lacks is absent in that row.
class TegraTable {
 public:
  Status add(const TegraLine& line) {
    for (const TegraReading& reading : line.readings) {
      const std::string key = std::string(reading.metric) + '\n' + labels_text(reading.labels);
      const auto [place, added] = places_.emplace(key, columns_.size());
      if (added) {
        if (columns_.size() == kMaxColumns) return Error("too many different fields");
        columns_.push_back({std::string(reading.metric),
                            reading.labels,
                            std::string(reading.unit),
                            Kind::gauge,
                            Scale{reading.numerator, reading.denominator},
                            {}});
      }
      WholeColumn& column = columns_[place->second];
      column.values.resize(rows_ + 1, kNoValue);
      if (reading.raw) column.values[rows_] = *reading.raw;
    }
    for (const std::string& word : line.unknown) {
      if (unknown_.size() < kMaxColumns) unknown_.insert(printable(word));
    }
    clocks_.push_back(line.clock_s);
    ++rows_;
    return {};
  }

  size_t rows() const { return rows_; }
  const std::vector<std::optional<int64_t>>& clocks() const { return clocks_; }
  const std::set<std::string>& unknown() const { return unknown_; }
  bool has(std::string_view metric, const Labels& labels) const {
    return places_.contains(std::string(metric) + '\n' + labels_text(labels));
  }
  std::vector<WholeColumn> take_columns() {
    for (WholeColumn& column : columns_) column.values.resize(rows_, kNoValue);
    return std::move(columns_);
  }

 private:
  std::map<std::string, size_t> places_;
  std::vector<WholeColumn> columns_;
  std::vector<std::optional<int64_t>> clocks_;
  std::set<std::string> unknown_;
  size_t rows_ = 0;
};

// Rows in whole seconds of the clock, the first and the last left out, give their mean distance;
// nothing where fewer than two such seconds are there.
std::optional<int64_t> mean_distance(const std::vector<int64_t>& clocks) {
  const int64_t seconds = clocks.back() - clocks.front() - 1;
  if (seconds < 2) return std::nullopt;
  const auto inside = std::count_if(clocks.begin(), clocks.end(), [&](int64_t clock) {
    return clock > clocks.front() && clock < clocks.back();
  });
  if (inside == 0) return std::nullopt;
  const double mean_s = static_cast<double>(seconds) / static_cast<double>(inside);
  return std::max<int64_t>(1, std::llround(mean_s * 1000)) * (kNsPerSecond / 1000);
}

// The distance between rows by their clocks, which tell whole seconds: what the middle pair has, or
// the mean where several rows share a second. Nothing without clocks, or where they were set back.
std::optional<int64_t> period_by_clock(const std::vector<std::optional<int64_t>>& given) {
  std::vector<int64_t> clocks, steps;
  for (const auto& clock : given) {
    if (clock) clocks.push_back(*clock);
  }
  for (size_t i = 1; i < clocks.size(); ++i) steps.push_back(clocks[i] - clocks[i - 1]);
  if (steps.empty() || *std::min_element(steps.begin(), steps.end()) < 0) return std::nullopt;
  const auto shared = std::count(steps.begin(), steps.end(), 0);
  if (shared * 10 > static_cast<std::ptrdiff_t>(steps.size())) return mean_distance(clocks);
  const int64_t middle = middle_of(std::move(steps));
  return middle > 0 ? std::optional(middle * kNsPerSecond) : std::nullopt;
}

// Where each row stands on the grid: where its clock says, but behind the row in front of it. A
// clock that was set back begins anew there.
std::vector<RowTime> place_rows(const std::vector<std::optional<int64_t>>& clocks,
                                int64_t period_ns, bool& clock_went_back) {
  std::vector<RowTime> rows;
  int64_t tick = -1, anchor_tick = 0;
  std::optional<int64_t> anchor_s, last_s;
  for (const std::optional<int64_t>& clock_s : clocks) {
    ++tick;
    if (clock_s && last_s && *clock_s < *last_s) {
      clock_went_back = true;
      anchor_s.reset();
    }
    if (clock_s && !anchor_s) {
      anchor_s = clock_s;
      anchor_tick = tick;
    }
    if (clock_s) {
      last_s = clock_s;
      const double since_ns = static_cast<double>(*clock_s - *anchor_s) * 1e9;
      tick = std::max<int64_t>(
          tick, anchor_tick + std::llround(since_ns / static_cast<double>(period_ns)));
    }
    rows.push_back({tick, 0});
  }
  return rows;
}

std::string clock_text(int64_t clock_s) {
  std::string text = utc_text(clock_s * kNsPerSecond);
  return text.substr(0, text.find('.'));
}

void add_notes(WholeRun& run, const TegraTable& table, bool by_clock, bool clock_went_back) {
  std::vector<std::string>& notes = run.manifest.notes;
  const double period_s = static_cast<double>(run.manifest.period_ns) / 1e9;
  if (by_clock) {
    notes.push_back(fmt::format(
        "times are nominal, {:g} s apart: the clock of the lines tells whole seconds; the first "
        "says {} (of which time zone is not told)",
        period_s, clock_text(*table.clocks()[0])));
  } else {
    notes.push_back(fmt::format(
        "the lines have no clock: rows are shown {:g} s apart (--every says otherwise)", period_s));
  }
  if (clock_went_back) notes.emplace_back("the clock of the lines was set back in between");
  notes.emplace_back(
      "CPU utilisation is relative to the clock that each core had; cpu=all is the mean of the "
      "cores that were on");
  if (table.has("hw.temperature", {{"sensor", "PMIC"}})) {
    notes.emplace_back("the sensor PMIC says 100 °C on every board before Orin, whatever it is");
  }
  if (table.unknown().empty()) return;
  std::string words;
  size_t shown = 0;
  for (const std::string& word : table.unknown()) {
    if (shown++ == kShownWords) break;
    words += (words.empty() ? "" : ", ") + word;
  }
  notes.push_back(
      fmt::format("{} words were not understood and left out: {}", table.unknown().size(), words));
}

Status read_lines(const std::string& path, const std::string& text, WholeRun& run,
                  TegraTable& table) {
  for (const TextLine& line : filled_lines(text)) {
    auto parsed = parse_tegrastats(line.text);
    if (!parsed && line.is_torn && table.rows() > 0) {
      run.manifest.notes.emplace_back("the last line is incomplete and left out");
      continue;
    }
    if (!parsed) return line_error(path, line.number, parsed.error().message());
    Status added = table.add(*parsed);
    if (!added) return line_error(path, line.number, added.error().message());
  }
  if (table.rows() == 0) return Error(path + ": there is no line in it");
  return {};
}

Result<WholeRun> read(const ImportOptions& options) {
  TS_TRY(const std::string text, read_recording(options.path));
  WholeRun run = imported_run("tegrastats", options.path, 0);
  TegraTable table;
  TS_CHECK_OK(read_lines(options.path, text, run, table));
  const auto measured = period_by_clock(table.clocks());
  const bool by_clock = measured.has_value() && table.clocks()[0].has_value();
  run.manifest.period_ns = options.every_ns.value_or(by_clock ? *measured : int64_t{kNsPerSecond});
  bool clock_went_back = false;
  run.rows = place_rows(table.clocks(), run.manifest.period_ns, clock_went_back);
  add_notes(run, table, by_clock, clock_went_back);
  run.columns = table.take_columns();
  nlohmann::json host = nlohmann::json::object();
  for (const WholeColumn& column : run.columns) {
    if (column.metric != "system.memory.limit") continue;
    const auto known = std::find_if(column.values.begin(), column.values.end(),
                                    [](int64_t raw) { return raw != kNoValue; });
    if (known != column.values.end()) {
      host["memory_bytes"] = static_cast<int64_t>(column.scale.apply(*known));
    }
  }
  run.host_json = host.dump();
  finish_rows(run);
  return run;
}

bool recognises(const std::string& path) {
  const auto text = read_recording(path);
  if (!text) return false;
  const auto lines = filled_lines(std::string_view(*text).substr(0, kLookedAtBytes));
  return !lines.empty() && looks_like_tegrastats(lines[0].text);
}

}  // namespace

extern const Importer tegrastats_importer;
const Importer tegrastats_importer = {
    .name = "tegrastats",
    .summary = "what NVIDIA's tegrastats printed on a Jetson board",
    .input = "the file that it logged to",
    .recognises = recognises,
    .read = read,
};

}  // namespace trainscope
