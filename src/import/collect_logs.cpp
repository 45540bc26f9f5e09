// collect-logs: the five text files of a shell script that sampled a training run with sensors,
// nvidia-smi, mpstat, iostat and free.
//
// Files: cputemp.out and gputemp.out (°C), cpu.out (mpstat, %), disk.out (iostat -xh, with k, M and
// % after numbers), memory.out (free -w -m, MiB). Blanks between columns, blank lines between rows,
// no heading, no timestamps. Caveats, listed in the run's notes: the period is nominal; a GPU's
// temperature has two characters, so 100 °C reads 10; the disk is not named; utilisation is what
// mpstat does not call idle. If a file does not exist, only its metrics are missing.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "import/import.h"
#include "import/support/collect_log.h"
#include "import/support/recording.h"

namespace trainscope::collect_logs_importer {

namespace {

constexpr int64_t kPeriodNs = kNsPerSecond;
// The script's job ran for 75 minutes and was sampled from its fifth second on.
constexpr double kScriptSeconds = 75 * 60 - 5;
constexpr size_t kMaxDevices = 64;  // more rows per sample than this are not devices

// The result of a first pass over one of the files.
struct LogTable {
  const LogFile* file = nullptr;
  std::string path;
  std::vector<ColumnData> columns;
  size_t devices = 1;  // so many lines are one row
  size_t rows = 0;
  bool has_torn_end = false;
  std::optional<int64_t> first_value;  // raw, of the first column

  bool is(std::string_view name) const { return name == file->name; }
};

Result<LogTable> look_at_table(const std::string& path, const LogFile& file) {
  LogTable table;
  table.file = &file;
  table.path = path;
  for (const LogField& field : file.fields) {
    table.columns.push_back({field.metric, labels_from_text(field.labels), field.unit, Kind::gauge,
                             Scale{1, field.denominator}});
  }
  TS_TRY(LineReader lines, LineReader::open(path));
  std::vector<int64_t> values;
  for (TextLine line;;) {
    TS_TRY(const bool more, lines.next(line));
    if (!more) break;
    const std::string problem = parse_log_line(file, line.text, values);
    if (problem.empty()) {
      if (table.rows++ == 0) table.first_value = values[0];
      continue;
    }
    if (!line.is_torn) return line_error(path, line.number, problem);
    table.has_torn_end = true;
  }
  if (table.rows == 0) return Error(path + ": no rows");
  return table;
}

// Several packages or GPUs put several rows into a file for each sample.
void split_devices(LogTable& table, size_t samples) {
  if (table.columns.size() != 1 || samples == 0 || table.rows % samples != 0) return;
  const size_t devices = table.rows / samples;
  if (devices < 2 || devices > kMaxDevices) return;
  const ColumnData all = std::move(table.columns[0]);
  table.columns.clear();
  for (size_t d = 0; d < devices; ++d) {
    ColumnData column = all;
    std::string& label = column.labels[0].second;
    label = label == "0" ? std::to_string(d) : label + (d == 0 ? "" : "_" + std::to_string(d));
    table.columns.push_back(std::move(column));
  }
  table.devices = devices;
  table.rows = samples;
}

// A reading of 10 to 12 °C right after one of 80 °C and more is a three-digit one cut off; its last
// digit is unknown.
class CutOffFilter {
 public:
  int64_t pass(int64_t celsius) {
    if (celsius == kAbsent) return celsius;
    if (last_ >= 80 && celsius >= 10 && celsius <= 12) {
      ++removed_;
      return kAbsent;
    }
    return last_ = celsius;
  }
  size_t removed() const { return removed_; }

 private:
  int64_t last_ = 0;
  size_t removed_ = 0;
};

// The second pass over one of the files: its values, row after row.
class TableRows {
 public:
  TableRows(const LogTable& table, LineReader lines)
      : file_(table.file),
        path_(table.path),
        lines_(std::move(lines)),
        columns_(table.columns.size()),
        devices_(table.devices),
        left_(table.rows) {
    if (table.is("gputemp.out")) filters_.resize(columns_);
  }

  size_t columns() const { return columns_; }

  // Absent when the file has no more rows.
  Status next(std::span<int64_t> values) {
    std::fill(values.begin(), values.end(), kAbsent);
    if (left_ == 0) return {};
    --left_;
    for (size_t d = 0; d < devices_; ++d) {
      TextLine line;
      TS_TRY(const bool more, lines_.next(line));
      if (!more || !parse_log_line(*file_, line.text, parsed_).empty()) {
        return line_error(path_, line.number, "the file was changed while it was read");
      }
      std::copy(parsed_.begin(), parsed_.end(), values.begin() + static_cast<ptrdiff_t>(d));
    }
    for (size_t c = 0; c < filters_.size(); ++c) values[c] = filters_[c].pass(values[c]);
    return {};
  }

  // Nothing if there is nothing to report.
  std::optional<std::string> note() const {
    if (filters_.empty()) return std::nullopt;
    size_t removed = 0;
    for (const CutOffFilter& filter : filters_) removed += filter.removed();
    if (removed == 0) {
      return "GPU temperatures were logged with two characters: 100 °C and more would read as 10 "
             "to 12; no value looks like that";
    }
    return fmt::format(
        "{} GPU temperatures were 100 °C or more: the log has only two characters of them (10 to "
        "12), so they are left out and the true maximum is unknown",
        removed);
  }

 private:
  const LogFile* file_;
  std::string path_;
  LineReader lines_;
  size_t columns_, devices_, left_;
  std::vector<CutOffFilter> filters_;  // one per column of a file that needs it
  std::vector<int64_t> parsed_;
};

// All files side by side.
class LogRows : public RowSource {
 public:
  LogRows(std::vector<TableRows> tables, size_t rows) : tables_(std::move(tables)), rows_(rows) {}

  Result<bool> next(RowTime& time, std::span<int64_t> values) override {
    if (at_ == rows_) return false;
    time = {static_cast<int64_t>(at_++), 0};
    for (TableRows& table : tables_) {
      TS_CHECK_OK(table.next(values.first(table.columns())));
      values = values.subspan(table.columns());
    }
    return true;
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    for (const TableRows& table : tables_) {
      if (auto note = table.note()) notes.push_back(std::move(*note));
    }
    return notes;
  }

 private:
  std::vector<TableRows> tables_;
  const size_t rows_;
  size_t at_ = 0;
};

std::string period_note(size_t rows) {
  std::string note =
      "the logs have no timestamps: rows are shown 1 s apart, the nominal period of the script";
  const double measured = kScriptSeconds / static_cast<double>(rows);
  if (measured > 1 && measured < 1.2) {
    note +=
        fmt::format("; if the job ran the script's 75 minutes they were {:.2f} s apart", measured);
  }
  return note;
}

void note_rows(RunData& run, const std::vector<LogTable>& tables, size_t rows) {
  run.manifest.notes.push_back(period_note(rows));
  for (const LogTable& table : tables) {
    if (table.rows != rows) {
      run.manifest.notes.push_back(
          fmt::format("{} has {} rows, the longest log {}: which rows are missing is unknown, "
                      "so it is shown from the start and absent at the end",
                      table.file->name, table.rows, rows));
    }
    if (table.has_torn_end) {
      run.manifest.notes.push_back(
          fmt::format("the last line of {} is incomplete and left out", table.file->name));
    }
    if (table.is("cpu.out")) {
      run.manifest.notes.emplace_back(
          "CPU utilisation is what mpstat does not call idle: waiting for I/O counts as busy here, "
          "but not in recorded runs");
    }
    if (table.is("disk.out")) {
      run.manifest.notes.emplace_back(
          "the logs do not name the disk; iostat rounded its numbers to three or four digits");
    }
  }
}

void add_missing(RunData& run, const std::string& folder, const LogFile& file) {
  for (const LogField& field : file.fields) {
    run.missing.push_back(
        {field.metric, field.unit, fmt::format("{} does not exist in {}", file.name, folder)});
  }
}

std::string host_of(const std::vector<LogTable>& tables) {
  Json host = Json::object();
  for (const LogTable& table : tables) {
    if (table.is("memory.out") && table.first_value) host["memory_bytes"] = *table.first_value;
  }
  return dump_json(host);
}

void add_never_recorded(RunData& run) {
  constexpr const char* kReason = "the collect script did not record it";
  run.missing.push_back({"hw.gpu.utilization", "1", kReason});
  run.missing.push_back({"hw.gpu.memory.usage", "By", kReason});
  run.missing.push_back({"hw.gpu.power", "W", kReason});
}

Result<std::vector<LogTable>> look_at_tables(const ImportOptions& options, RunData& run) {
  std::vector<LogTable> tables;
  size_t samples = 0;  // of the files that have one row per sample on every machine
  for (const LogFile& file : log_files()) {
    const std::string path = options.path + "/" + file.name;
    if (!exists(path)) {
      add_missing(run, run.manifest.imported_path, file);
      continue;
    }
    TS_TRY(LogTable table, look_at_table(path, file));
    if (file.columns > 1) samples = std::max(samples, table.rows);
    tables.push_back(std::move(table));
  }
  for (LogTable& table : tables) split_devices(table, samples);
  return tables;
}

Result<RunData> read(const ImportOptions& options) {
  RunData run = imported_run("collect-logs", options.path, options.every_ns.value_or(kPeriodNs));
  TS_TRY(const std::vector<LogTable> tables, look_at_tables(options, run));
  if (tables.empty()) {
    return Error(
        fmt::format("{}: none of cpu.out, cputemp.out, disk.out, gputemp.out, memory.out "
                    "exists",
                    options.path));
  }
  size_t rows = 0;
  std::vector<TableRows> sources;
  for (const LogTable& table : tables) {
    rows = std::max(rows, table.rows);
    run.columns.insert(run.columns.end(), table.columns.begin(), table.columns.end());
    TS_TRY(LineReader lines, LineReader::open(table.path));
    sources.emplace_back(table, std::move(lines));
  }
  note_rows(run, tables, rows);
  run.host_json = host_of(tables);
  add_never_recorded(run);
  run.rows = std::make_unique<LogRows>(std::move(sources), rows);
  return run;
}

bool recognises(const std::string& path) {
  const auto files = log_files();
  return std::count_if(files.begin(), files.end(),
                       [&](const LogFile& file) { return exists(path + "/" + file.name); }) >= 2;
}

}  // namespace

extern const Importer entry;
const Importer entry = {
    .name = "collect-logs",
    .summary =
        "text files of a shell script that sampled sensors, nvidia-smi, mpstat, iostat, free",
    .input = "the folder with cpu.out, cputemp.out, disk.out, gputemp.out, memory.out",
    .recognises = recognises,
    .read = read,
};

}  // namespace trainscope::collect_logs_importer
