#include "parse/tegrastats.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/text.h"

namespace trainscope {

namespace {

constexpr double kMostOfAnything = 1e12;  // more cannot be a reading of a board
constexpr double kMostRaw = 9e15;
constexpr double kInvalidCelsius = -200;  // the driver reports -256 if there is no sensor

using Labels = std::vector<std::pair<std::string, std::string>>;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Words between blanks; text in brackets stays together.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && depth > 0) --depth;
    if (i < line.size() && (!is_blank(c) || depth > 0)) continue;
    if (i > begin) words.push_back(line.substr(begin, i - begin));
    begin = i + 1;
  }
  return words;
}

std::optional<double> number_of(std::string_view text) {
  const auto number = parse_number(text);
  if (!number || !std::isfinite(*number) || std::abs(*number) > kMostOfAnything) {
    return std::nullopt;
  }
  return number;
}

// The number that the text begins with, taken off it.
std::optional<double> take_number(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() &&
         ((text[n] >= '0' && text[n] <= '9') || text[n] == '.' || (n == 0 && text[n] == '-'))) {
    ++n;
  }
  const auto number = number_of(text.substr(0, n));
  if (number) text.remove_prefix(n);
  return number;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// A name from the line as a label's value.
std::string label_of(std::string_view name) {
  std::string label(name);
  for (char& c : label) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.' || c == '+';
    if (!plain) c = '_';
  }
  return label;
}

bool is_sensor_name(std::string_view word) {
  return !word.empty() &&
         ((word[0] >= 'a' && word[0] <= 'z') || (word[0] >= 'A' && word[0] <= 'Z'));
}

// "12-31-2021" and "23:59:59"
std::optional<int64_t> clock_of(std::string_view date, std::string_view time) {
  const auto day_parts = split(date, '-'), time_parts = split(time, ':');
  if (day_parts.size() != 3 || time_parts.size() != 3) return std::nullopt;
  const auto month = parse_integer(day_parts[0]), day = parse_integer(day_parts[1]),
             year = parse_integer(day_parts[2]), hour = parse_integer(time_parts[0]),
             minute = parse_integer(time_parts[1]), second = parse_integer(time_parts[2]);
  if (!month || !day || !year || !hour || !minute || !second) return std::nullopt;
  if (*year < 1970 || *year > 9999 || *month < 1 || *month > 12 || *day < 1 || *day > 31) {
    return std::nullopt;
  }
  if (*hour < 0 || *hour > 23 || *minute < 0 || *minute > 59 || *second < 0 || *second > 60) {
    return std::nullopt;
  }
  const std::chrono::year_month_day civil{std::chrono::year(static_cast<int>(*year)),
                                          std::chrono::month(static_cast<unsigned>(*month)),
                                          std::chrono::day(static_cast<unsigned>(*day))};
  if (!civil.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(civil).time_since_epoch().count();
  return ((days * 24 + *hour) * 60 + *minute) * 60 + *second;
}

class TegraParser {
 public:
  explicit TegraParser(std::string_view line) : words_(words_of(line)) {}

  Result<TegraLine> run() {
    if (words_.size() >= 2) line_.clock_s = clock_of(words_[0], words_[1]);
    if (line_.clock_s) at_ = 2;
    while (at_ < words_.size()) {
      const bool known = take_memory() || take_cores() || take_mts() || take_temperature() ||
                         take_rail() || take_engine();
      if (!problem_.empty()) return Error(problem_);
      if (!known) line_.unknown.emplace_back(words_[at_++]);
    }
    if (line_.readings.empty()) return Error("the line has no field of tegrastats");
    return std::move(line_);
  }

 private:
  std::string_view word(size_t ahead = 0) const {
    return at_ + ahead < words_.size() ? words_[at_ + ahead] : std::string_view();
  }

  void add(std::string_view metric, std::string_view unit, Labels labels,
           std::optional<double> value, int64_t numerator, int64_t denominator) {
    TegraReading reading{metric, unit, std::move(labels), std::nullopt, numerator, denominator};
    const double raw =
        value.value_or(0) * static_cast<double>(denominator) / static_cast<double>(numerator);
    if (value && std::abs(raw) < kMostRaw) reading.raw = std::llround(raw);
    line_.readings.push_back(std::move(reading));
  }
  void add_ratio(std::string_view metric, Labels labels, std::optional<double> ratio) {
    add(metric, "1", std::move(labels), ratio, 1, 10'000);
  }
  void add_clock(std::string_view metric, Labels labels, std::optional<double> mhz) {
    add(metric, "Hz", std::move(labels), mhz ? std::optional(*mhz * 1e6) : mhz, 1000, 1);
  }
  void add_celsius(std::string_view metric, Labels labels, double said) {
    if (said < kInvalidCelsius) {
      add(metric, "Cel", std::move(labels), std::nullopt, 1, 1000);
    } else {
      add(metric, "Cel", std::move(labels), said, 1, 1000);
    }
  }
  void add_bytes(std::string_view metric, Labels labels, double bytes) {
    add(metric, "By", std::move(labels), bytes, 1024, 1);
  }

  bool malformed(std::string_view name) {
    problem_ = fmt::format("{} is followed by '{}'", name, printable(word(1)));
    return false;
  }

  // RAM 2448/7858MB (lfb 2x2MB), SWAP 0/3929MB (cached 0MB), IRAM 0/252kB(lfb 252kB)
  bool take_memory() {
    const std::string_view name = word();
    if (name != "RAM" && name != "SWAP" && name != "IRAM") return false;
    std::string_view text = word(1);
    const auto used = take_number(text);
    const bool slash = take(text, "/");
    const auto all = take_number(text);
    const bool mega = take(text, "MB");
    if (!used || !slash || !all || (!mega && !take(text, "kB")) || *used < 0 || *all < 0) {
      return malformed(name);
    }
    const double unit = mega ? 1024.0 * 1024.0 : 1024.0;
    if (name == "RAM") {
      add_bytes("system.memory.usage", {{"state", "used"}}, *used * unit);
      add_bytes("system.memory.limit", {}, *all * unit);
      add_ratio("system.memory.utilization", {},
                *all > 0 ? std::optional(*used / *all) : std::nullopt);
    } else if (name == "SWAP") {
      add_bytes("system.swap.usage", {{"state", "free"}}, std::max(0.0, *all - *used) * unit);
      add_bytes("system.swap.usage", {{"state", "used"}}, *used * unit);
    } else {
      add_bytes("jetson.iram.usage", {}, *used * unit);
    }
    at_ += 2;
    if (word().starts_with("(lfb") || word().starts_with("(cached")) ++at_;
    return true;
  }

  // CPU [12%@1420,off,0%@345] or CPU [12%,off]: the share of the time, at the clock it had.
  bool take_cores() {
    if (word() != "CPU" || !word(1).starts_with('[')) return false;
    std::string_view list = word(1);
    if (!list.ends_with(']')) return malformed("CPU");
    list = list.substr(1, list.size() - 2);
    double sum = 0;
    int64_t online = 0, number = 0;
    for (std::string_view core : split(list, ',')) {
      core = trim(core);
      const std::string cpu = std::to_string(number++);
      std::optional<double> load, mhz;
      if (core != "off") {
        load = take_number(core);
        if (!load || !take(core, "%")) return malformed("CPU");
        if (take(core, "@") && !(mhz = take_number(core))) return malformed("CPU");
        if (!core.empty()) return malformed("CPU");
        sum += *load;
        ++online;
      }
      const std::optional<double> ratio = load ? std::optional(*load / 100) : load;
      add_ratio("system.cpu.utilization", {{"cpu", cpu}}, ratio);
      if (mhz || core == "off") add_clock("system.cpu.frequency", {{"cpu", cpu}}, mhz);
    }
    // Not in the line; cores that are off do not count, as in /proc/stat.
    add_ratio("system.cpu.utilization", {{"cpu", "all"}},
              online > 0 ? std::optional(sum / static_cast<double>(online) / 100) : std::nullopt);
    at_ += 2;
    return true;
  }

  // MTS fg 0% bg 1%: time of the processor's own code translation.
  bool take_mts() {
    if (word() != "MTS" || word(1) != "fg" || word(3) != "bg") return false;
    std::string_view front = word(2), back = word(4);
    const auto fg = take_number(front), bg = take_number(back);
    if (!fg || !bg || front != "%" || back != "%") return malformed("MTS");
    add_ratio("jetson.mts.utilization", {{"kind", "background"}}, *bg / 100);
    add_ratio("jetson.mts.utilization", {{"kind", "foreground"}}, *fg / 100);
    at_ += 5;
    return true;
  }

  // GPU@45.5C, soc0@-256C, CPU@50C/48C
  bool take_temperature() {
    const std::string_view whole = word();
    const size_t sign = whole.find('@');
    if (sign == 0 || sign == std::string_view::npos || !is_sensor_name(whole)) return false;
    std::string_view text = whole.substr(sign + 1);
    const double said = take_number(text).value_or(NAN);
    if (std::isnan(said) || !take(text, "C") || (!text.empty() && text[0] != '/')) return false;
    const std::string name = label_of(whole.substr(0, sign));
    add_celsius("hw.temperature", {{"sensor", name}}, said);
    const std::string plain = lower(name);
    if (plain == "gpu") add_celsius("hw.gpu.temperature", {{"gpu", "0"}}, said);
    if (plain == "cpu") add_celsius("hw.temperature", {{"sensor", "cpu_package"}}, said);
    ++at_;
    return true;
  }

  // VDD_IN 4567/4321, VDD_IN 4567mW/4321mW: now and on average since tegrastats began.
  bool take_rail() {
    std::string_view text = word(1);
    if (!is_sensor_name(word()) || text.find('/') == std::string_view::npos) return false;
    const auto now = take_number(text);
    if (!now) return false;
    take(text, "mW");
    if (!take(text, "/") || !take_number(text)) return false;
    take(text, "mW");
    if (!text.empty() && text != "/mW") return false;
    add("hw.power", "W", {{"sensor", label_of(word())}}, *now / 1000, 1, 1000);
    at_ += 2;
    return true;
  }

  // EMC_FREQ 4%@1600, GR3D_FREQ 0%@[305,305], GR3D_FREQ @[305], NVENC 115, APE off, VIC_FREQ 0%
  bool take_engine() {
    const std::string_view name = word();
    std::string_view text = word(1);
    if (!is_sensor_name(name) || text.empty()) return false;
    std::optional<double> load;
    std::vector<double> clocks;
    if (text != "off" && !parse_engine(text, load, clocks)) return false;
    add_engine(name, load, clocks, text == "off");
    at_ += 2;
    return true;
  }

  static bool parse_engine(std::string_view text, std::optional<double>& load,
                           std::vector<double>& clocks) {
    if (text[0] != '@') {
      const auto number = take_number(text);
      if (!number) return false;
      if (text.empty()) {
        clocks.push_back(*number);
        return true;
      }
      if (!take(text, "%")) return false;
      load = *number / 100;
      if (text.empty()) return true;
    }
    if (!take(text, "@") || text.empty()) return false;
    if (take(text, "[")) {
      if (!text.ends_with(']')) return false;
      text.remove_suffix(1);
    }
    for (const std::string_view part : split(text, ',')) {
      const auto mhz = number_of(trim(part));
      if (!mhz) return false;
      clocks.push_back(*mhz);
    }
    return true;
  }

  void add_engine(std::string_view name, std::optional<double> load,
                  const std::vector<double>& clocks, bool off) {
    const std::optional<double> clock =
        clocks.empty() ? std::nullopt
                       : std::optional(*std::max_element(clocks.begin(), clocks.end()));
    const bool memory = name == "EMC_FREQ" || name == "EMC";
    if (memory || name.starts_with("GR3D")) {
      const std::string gpu = name.starts_with("GR3D2") ? "1" : "0";
      if (load || off) {
        add_ratio(memory ? "hw.gpu.memory.controller.utilization" : "hw.gpu.utilization",
                  {{"gpu", gpu}}, load);
      }
      const std::string which = memory ? "memory" : "sm";
      if (clock || off) add_clock("hw.gpu.clock", {{"clock", which}, {"gpu", gpu}}, clock);
      for (size_t i = 0; i < clocks.size() && clocks.size() > 1; ++i) {
        add_clock("hw.gpu.clock", {{"clock", "gpc" + std::to_string(i)}, {"gpu", gpu}}, clocks[i]);
      }
      return;
    }
    if (name.ends_with("_FREQ")) name.remove_suffix(5);
    const Labels labels = {{"engine", label_of(name)}};
    if (load) add_ratio("jetson.engine.utilization", labels, load);
    if (clock || off) add_clock("jetson.engine.clock", labels, clock);
  }

  std::vector<std::string_view> words_;
  size_t at_ = 0;
  TegraLine line_;
  std::string problem_;
};

}  // namespace

Result<TegraLine> parse_tegrastats(std::string_view line) { return TegraParser(line).run(); }

bool looks_like_tegrastats(std::string_view line) {
  const auto parsed = parse_tegrastats(line);
  if (!parsed) return false;
  const auto has = [&](std::string_view metric) {
    return std::any_of(parsed->readings.begin(), parsed->readings.end(),
                       [&](const TegraReading& reading) { return reading.metric == metric; });
  };
  return has("system.memory.limit") && has("system.cpu.utilization");
}

}  // namespace trainscope
