// collect-logs: the five text files of a shell script that sampled a training run with sensors,
// nvidia-smi, mpstat, iostat and free.
//
// What is there: cputemp.out and gputemp.out (°C), cpu.out (mpstat, %), disk.out (iostat -xh, with
// k, M and % behind numbers), memory.out (free -w -m, MiB). Blanks between columns, blank lines
// between rows, no heading, no times. Caveats, told in the run's notes: the period is nominal; a
// GPU's temperature has two characters, so 100 °C reads 10; which disk it was is not told;
// utilisation is what mpstat does not call idle. A file that is not there costs its metrics only.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "import/import.h"
#include "import/support/recording.h"

namespace trainscope {

namespace {

constexpr int64_t kPeriodNs = kNsPerSecond;
// The script's job ran for 75 minutes and was sampled from its fifth second on.
constexpr double kScriptSeconds = 75 * 60 - 5;
constexpr double kMostOfAnything = 1e15;
constexpr double kMiB = 1024.0 * 1024.0;

// How a number of the logs becomes a value: % and suffixes are taken off first.
enum class Reading { plain, percent, idle_percent, kilobytes };

struct LogField {
  size_t column;
  const char* metric;
  const char* unit;
  const char* labels;
  Reading reading;
  double factor;        // number x factor = value
  int64_t denominator;  // stored as value x denominator
};

constexpr LogField kTemperatureFields[] = {
    {0, "hw.temperature", "Cel", "sensor=cpu_package", Reading::plain, 1, 10}};
constexpr LogField kGpuFields[] = {{0, "hw.gpu.temperature", "Cel", "gpu=0", Reading::plain, 1, 1}};

constexpr const char* kState = "system.cpu.state.utilization";
constexpr LogField kCpuFields[] = {
    {9, "system.cpu.utilization", "1", "cpu=all", Reading::idle_percent, 1, 10'000},
    {0, kState, "1", "cpu=all;state=user", Reading::percent, 1, 10'000},
    {1, kState, "1", "cpu=all;state=nice", Reading::percent, 1, 10'000},
    {2, kState, "1", "cpu=all;state=system", Reading::percent, 1, 10'000},
    {3, kState, "1", "cpu=all;state=iowait", Reading::percent, 1, 10'000},
    {4, kState, "1", "cpu=all;state=irq", Reading::percent, 1, 10'000},
    {5, kState, "1", "cpu=all;state=softirq", Reading::percent, 1, 10'000},
    {6, kState, "1", "cpu=all;state=steal", Reading::percent, 1, 10'000},
    {7, kState, "1", "cpu=all;state=guest", Reading::percent, 1, 10'000},
    {8, kState, "1", "cpu=all;state=guest_nice", Reading::percent, 1, 10'000},
    {9, kState, "1", "cpu=all;state=idle", Reading::percent, 1, 10'000}};

// r/s w/s rkB/s wkB/s rrqm/s wrqm/s %rrqm %wrqm r_await w_await aqu-sz rareq-sz wareq-sz svctm util
constexpr const char* kRead = "device=unknown;direction=read";
constexpr const char* kWrite = "device=unknown;direction=write";
constexpr LogField kDiskFields[] = {
    {0, "system.disk.operation.rate", "{operation}/s", kRead, Reading::plain, 1, 100},
    {1, "system.disk.operation.rate", "{operation}/s", kWrite, Reading::plain, 1, 100},
    {2, "system.disk.io.rate", "By/s", kRead, Reading::kilobytes, 1, 1},
    {3, "system.disk.io.rate", "By/s", kWrite, Reading::kilobytes, 1, 1},
    {4, "system.disk.merge.rate", "{operation}/s", kRead, Reading::plain, 1, 100},
    {5, "system.disk.merge.rate", "{operation}/s", kWrite, Reading::plain, 1, 100},
    {8, "system.disk.operation.wait", "s", kRead, Reading::plain, 0.001, 100'000},
    {9, "system.disk.operation.wait", "s", kWrite, Reading::plain, 0.001, 100'000},
    {10, "system.disk.queue.length", "{operation}", "device=unknown", Reading::plain, 1, 100},
    {11, "system.disk.operation.size", "By", kRead, Reading::kilobytes, 1, 1},
    {12, "system.disk.operation.size", "By", kWrite, Reading::kilobytes, 1, 1},
    {14, "system.disk.utilization", "1", "device=unknown", Reading::percent, 1, 10'000}};

// Mem: total used free shared buffers cache available
constexpr LogField kMemoryFields[] = {
    {0, "system.memory.limit", "By", "", Reading::plain, kMiB, 1},
    {1, "system.memory.usage", "By", "state=used", Reading::plain, kMiB, 1},
    {2, "system.memory.usage", "By", "state=free", Reading::plain, kMiB, 1},
    {3, "system.memory.usage", "By", "state=shared", Reading::plain, kMiB, 1},
    {4, "system.memory.usage", "By", "state=buffers", Reading::plain, kMiB, 1},
    {5, "system.memory.usage", "By", "state=cached", Reading::plain, kMiB, 1},
    {6, "system.memory.usage", "By", "state=available", Reading::plain, kMiB, 1}};

struct LogFile {
  const char* name;
  const char* heading;  // the first word of each row; "" when there is none
  size_t columns;
  std::span<const LogField> fields;
};
constexpr std::array<LogFile, 5> kFiles = {{{"cpu.out", "", 10, kCpuFields},
                                            {"cputemp.out", "", 1, kTemperatureFields},
                                            {"disk.out", "", 15, kDiskFields},
                                            {"gputemp.out", "", 1, kGpuFields},
                                            {"memory.out", "Mem:", 7, kMemoryFields}}};

// 1.4M is 1.4 and M.
struct LogNumber {
  double number = 0;
  char suffix = 0;
};

std::optional<LogNumber> parse_log_number(std::string_view text) {
  LogNumber result;
  if (!text.empty() && std::string_view("%sBkMGTP").find(text.back()) != std::string_view::npos) {
    result.suffix = text.back();
    text.remove_suffix(1);
  }
  const auto number = parse_number(text);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  result.number = *number;
  return result;
}

// Bytes: iostat counts sectors, and its k is 1024 of them.
double bytes_of(const LogNumber& given) {
  switch (given.suffix) {
    case 'B':
      return given.number;
    case 's':
      return given.number * 512;
    case 'M':
      return given.number * kMiB;
    case 'G':
      return given.number * kMiB * 1024;
    case 'T':
      return given.number * kMiB * kMiB;
    case 'P':
      return given.number * kMiB * kMiB * 1024;
    default:
      return given.number * 1024;
  }
}

// iostat shortens large plain numbers as well: 1.2k requests are 1,200.
double count_of(const LogNumber& given) {
  switch (given.suffix) {
    case 'k':
      return given.number * 1e3;
    case 'M':
      return given.number * 1e6;
    case 'G':
      return given.number * 1e9;
    default:
      return given.number;
  }
}

std::optional<int64_t> raw_of(const LogField& field, const LogNumber& given) {
  double value = 0;
  switch (field.reading) {
    case Reading::plain:
      value = count_of(given);
      break;
    case Reading::percent:
      value = given.number / 100;
      break;
    case Reading::idle_percent:
      value = 1 - given.number / 100;
      break;
    case Reading::kilobytes:
      value = bytes_of(given);
      break;
  }
  const double raw = value * field.factor * static_cast<double>(field.denominator);
  if (!(std::abs(raw) < kMostOfAnything)) return std::nullopt;
  return std::llround(raw);
}

// One of the files: its columns, all of the same length.
struct LogTable {
  const LogFile* file = nullptr;
  std::vector<WholeColumn> columns;
  size_t rows = 0;
  bool has_torn_end = false;
};

std::string add_row(LogTable& table, std::string_view line) {
  std::vector<std::string_view> words = fields(line);
  const LogFile& file = *table.file;
  if (*file.heading != '\0') {
    if (words[0] != file.heading) return fmt::format("it does not begin with {}", file.heading);
    words.erase(words.begin());
  }
  if (words.size() != file.columns) {
    return fmt::format("{} columns, expected {}", words.size(), file.columns);
  }
  for (size_t i = 0; i < file.fields.size(); ++i) {
    const std::string_view word = words[file.fields[i].column];
    // What nvidia-smi says where it knows nothing, cut to two characters by the script.
    const bool unknown = word == "N/" || word == "N/A";
    const auto number = unknown ? LogNumber() : parse_log_number(word);
    if (!number) return fmt::format("'{}' is not a number", printable(word));
    const auto raw = unknown ? kNoValue : raw_of(file.fields[i], *number);
    if (!raw) return fmt::format("'{}' is too large", printable(word));
    table.columns[i].values.push_back(*raw);
  }
  ++table.rows;
  return "";
}

Result<LogTable> read_table(const std::string& path, const LogFile& file) {
  LogTable table{&file, {}, 0, false};
  for (const LogField& field : file.fields) {
    table.columns.push_back({field.metric,
                             labels_from_text(field.labels),
                             field.unit,
                             Kind::gauge,
                             Scale{1, field.denominator},
                             {}});
  }
  TS_TRY(const std::string text, read_recording(path));
  for (const TextLine& line : filled_lines(text)) {
    const std::string problem = add_row(table, line.text);
    if (problem.empty()) continue;
    if (!line.is_torn) return line_error(path, line.number, problem);
    table.has_torn_end = true;
    for (WholeColumn& column : table.columns) column.values.resize(table.rows);
  }
  if (table.rows == 0) return Error(path + ": there is no row in it");
  return table;
}

// Several packages or GPUs put several rows into a file for each sample.
void split_devices(LogTable& table, size_t samples) {
  if (table.columns.size() != 1 || samples == 0 || table.rows % samples != 0) return;
  const size_t devices = table.rows / samples;
  if (devices < 2) return;
  const WholeColumn all = std::move(table.columns[0]);
  table.columns.clear();
  for (size_t d = 0; d < devices; ++d) {
    WholeColumn column = all;
    std::string& label = column.labels[0].second;
    label = label == "0" ? std::to_string(d) : label + (d == 0 ? "" : "_" + std::to_string(d));
    column.values.clear();
    for (size_t r = 0; r < samples; ++r) column.values.push_back(all.values[r * devices + d]);
    table.columns.push_back(std::move(column));
  }
  table.rows = samples;
}

// A reading of 10 to 12 °C right after one of 80 °C and more is a three-digit one cut off; what its
// last digit was nobody knows.
size_t remove_cut_off(std::vector<int64_t>& celsius) {
  size_t removed = 0;
  int64_t last = 0;
  for (int64_t& value : celsius) {
    if (value == kNoValue) continue;
    if (last >= 80 && value >= 10 && value <= 12) {
      value = kNoValue;
      ++removed;
    } else {
      last = value;
    }
  }
  return removed;
}

void note_temperatures(WholeRun& run, LogTable& table) {
  if (std::string_view(table.file->name) != "gputemp.out") return;
  size_t removed = 0;
  for (WholeColumn& column : table.columns) removed += remove_cut_off(column.values);
  run.manifest.notes.push_back(
      removed == 0
          ? "GPU temperatures were logged with two characters: 100 °C and more would read as 10 "
            "to 12; no reading looks like that"
          : fmt::format("{} GPU temperatures were 100 °C or more: the log has two characters of "
                        "them (10 to 12), so they are left out and the true maximum is not known",
                        removed));
}

std::string period_note(size_t rows) {
  std::string note =
      "the logs have no times: rows are shown 1 s apart, the nominal period of the script";
  const double measured = kScriptSeconds / static_cast<double>(rows);
  if (measured > 1 && measured < 1.2) {
    note +=
        fmt::format("; if the job ran the script's 75 minutes they were {:.2f} s apart", measured);
  }
  return note;
}

void note_rows(WholeRun& run, const std::vector<LogTable>& tables, size_t rows) {
  run.manifest.notes.push_back(period_note(rows));
  for (const LogTable& table : tables) {
    if (table.rows != rows) {
      run.manifest.notes.push_back(
          fmt::format("{} has {} rows, the longest of the logs {}: which are missing is not known, "
                      "so it is shown from the start and absent at the end",
                      table.file->name, table.rows, rows));
    }
    if (table.has_torn_end) {
      run.manifest.notes.push_back(
          fmt::format("the last line of {} is incomplete and left out", table.file->name));
    }
    const std::string_view name = table.file->name;
    if (name == "cpu.out") {
      run.manifest.notes.emplace_back(
          "CPU utilisation is what mpstat does not call idle: waiting for I/O counts as busy here, "
          "in runs of our own it does not");
    }
    if (name == "disk.out") {
      run.manifest.notes.emplace_back(
          "the logs do not name the disk; iostat rounded its numbers to three or four digits");
    }
  }
}

void add_missing(WholeRun& run, const std::string& folder, const LogFile& file) {
  for (const LogField& field : file.fields) {
    run.missing.push_back(
        {field.metric, field.unit, fmt::format("there is no {} in {}", file.name, folder)});
  }
}

std::string host_of(const std::vector<LogTable>& tables) {
  nlohmann::json host = nlohmann::json::object();
  for (const LogTable& table : tables) {
    if (std::string_view(table.file->name) != "memory.out") continue;
    host["memory_bytes"] = table.columns[0].values[0];
  }
  return host.dump();
}

Result<WholeRun> read(const ImportOptions& options) {
  WholeRun run = imported_run("collect-logs", options.path, options.every_ns.value_or(kPeriodNs));
  std::vector<LogTable> tables;
  size_t samples = 0;  // of the files that have one row a sample whatever the machine
  for (const LogFile& file : kFiles) {
    const std::string path = options.path + "/" + file.name;
    if (!exists(path)) {
      add_missing(run, run.manifest.imported_path, file);
      continue;
    }
    TS_TRY(LogTable table, read_table(path, file));
    if (file.columns > 1) samples = std::max(samples, table.rows);
    tables.push_back(std::move(table));
  }
  if (tables.empty()) {
    return Error(
        fmt::format("{}: none of cpu.out, cputemp.out, disk.out, gputemp.out, memory.out "
                    "is there",
                    options.path));
  }
  size_t rows = 0;
  for (LogTable& table : tables) {
    split_devices(table, samples);
    rows = std::max(rows, table.rows);
  }
  note_rows(run, tables, rows);
  for (LogTable& table : tables) note_temperatures(run, table);
  run.host_json = host_of(tables);
  for (LogTable& table : tables) {
    for (WholeColumn& column : table.columns) {
      column.values.resize(rows, kNoValue);
      run.columns.push_back(std::move(column));
    }
  }
  for (const char* metric : {"hw.gpu.utilization", "hw.gpu.memory.usage", "hw.gpu.power"}) {
    const std::string_view name = metric;
    run.missing.push_back({metric,
                           name.ends_with("usage")   ? "By"
                           : name.ends_with("power") ? "W"
                                                     : "1",
                           "the collect script did not record it"});
  }
  for (size_t r = 0; r < rows; ++r) run.rows.push_back({static_cast<int64_t>(r), 0});
  finish_rows(run);
  return run;
}

bool recognises(const std::string& path) {
  return std::count_if(kFiles.begin(), kFiles.end(),
                       [&](const LogFile& file) { return exists(path + "/" + file.name); }) >= 2;
}

}  // namespace

extern const Importer collect_logs_importer;
const Importer collect_logs_importer = {
    .name = "collect-logs",
    .summary =
        "text files of a shell script that sampled sensors, nvidia-smi, mpstat, iostat, free",
    .input = "the folder with cpu.out, cputemp.out, disk.out, gputemp.out, memory.out",
    .recognises = recognises,
    .read = read,
};

}  // namespace trainscope
