#include "import/support/collect_log.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "format/format.h"

namespace trainscope {

namespace {

constexpr double kMostOfAnything = 1e15;
constexpr double kMiB = 1024.0 * 1024.0;

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

}  // namespace

std::span<const LogFile> log_files() { return kFiles; }

std::string parse_log_line(const LogFile& file, std::string_view line,
                           std::vector<int64_t>& values) {
  std::vector<std::string_view> words = fields(line);
  if (*file.heading != '\0') {
    if (words[0] != file.heading)
      return fmt::format("the line does not begin with {}", file.heading);
    words.erase(words.begin());
  }
  if (words.size() != file.columns) {
    return fmt::format("{} columns, expected {}", words.size(), file.columns);
  }
  values.clear();
  for (const LogField& field : file.fields) {
    const std::string_view word = words[field.column];
    // The output of nvidia-smi for unknown values, cut to two characters by the script.
    const bool unknown = word == "N/" || word == "N/A";
    const auto number = unknown ? LogNumber() : parse_log_number(word);
    if (!number) return fmt::format("'{}' is not a number", printable(word));
    const auto raw = unknown ? kAbsent : raw_of(field, *number);
    if (!raw) return fmt::format("'{}' is too large", printable(word));
    values.push_back(*raw);
  }
  return "";
}

}  // namespace trainscope
