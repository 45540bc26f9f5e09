#include "training/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace trainscope {

namespace {

using ReportKind = Report::Kind;

constexpr size_t kMaxNameBytes = 128;
constexpr std::string_view kTimeKey = "t", kWhoKey = "who", kSetKey = "set";

constexpr std::array<std::pair<std::string_view, ReportKind>, 9> kWords = {{
    {"step", ReportKind::step},
    {"epoch", ReportKind::epoch},
    {"begin", ReportKind::begin},
    {"end", ReportKind::end},
    {"phase", ReportKind::phase},
    {"batch", ReportKind::batch},
    {"scalar", ReportKind::scalar},
    {"mark", ReportKind::mark},
    {"dropped", ReportKind::dropped},
}};

struct SetWord {
  std::string_view word, set;
};
constexpr std::array<SetWord, 8> kSetWords = {{{"train", "train"},
                                               {"training", "train"},
                                               {"validation", "validation"},
                                               {"valid", "validation"},
                                               {"val", "validation"},
                                               {"eval", "validation"},
                                               {"evaluation", "validation"},
                                               {"test", "test"}}};

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '/' || c == ':' ||
                  c == '-' || c >= 0x80;
         });
}

// Without an early exit: so the compiler looks at many characters at once.
bool is_text(std::string_view text) {
  unsigned controls = 0;
  for (const unsigned char c : text) controls |= static_cast<unsigned>(c < 0x20 || c == 0x7f);
  return controls == 0;
}

class Words {
 public:
  explicit Words(std::string_view line) : rest_(trim(line)) {}

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view peek() const { return rest_.substr(0, rest_.find(' ')); }
  std::string_view take() {
    const std::string_view word = peek();
    rest_.remove_prefix(word.size());
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return word;
  }

 private:
  std::string_view rest_;
};

std::optional<int64_t> whole_number(std::string_view text) {
  const auto number = parse_integer(text);
  if (!number || *number < 0 || *number > kMaxReportNumber) return std::nullopt;
  return number;
}

// t=, who=, set= and NAME=NUMBER.
Status take_key(std::string_view word, Report& report) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  if (equals == std::string_view::npos || !is_name(name)) {
    return Error(fmt::format("'{}' is not NAME=NUMBER", word));
  }
  const std::string_view value = word.substr(equals + 1);
  if (name == kWhoKey || name == kSetKey) {
    if (!is_name(value)) return Error(fmt::format("'{}' is not a name", value));
    const std::string_view set = name == kSetKey ? set_of_word(lower(value)) : "";
    (name == kWhoKey ? report.who : report.set) = set.empty() ? value : set;
    return {};
  }
  if (name == kTimeKey) {
    report.time_ns = parse_integer(value);
    return report.time_ns ? Status() : Error(fmt::format("t={} is not in nanoseconds", value));
  }
  const auto number = parse_number(value);
  if (!number) return Error(fmt::format("{}={} is not a number", name, value));
  report.numbers.emplace_back(name, *number);
  return {};
}

// The required part after the first word.
Status take_subject(Words& words, Report& report) {
  switch (report.kind) {
    case ReportKind::step:
    case ReportKind::epoch:
      if (!words.empty() && words.peek().find('=') == std::string_view::npos) {
        report.number = whole_number(words.peek());
        if (!report.number) return Error(fmt::format("'{}' is not a number", words.peek()));
        words.take();
      }
      return {};
    case ReportKind::batch:
    case ReportKind::dropped:
      report.number = whole_number(words.peek());
      if (!report.number) return Error("an integer is missing");
      words.take();
      return {};
    case ReportKind::begin:
    case ReportKind::end:
    case ReportKind::phase:
    case ReportKind::scalar:
      if (!is_name(words.peek())) return Error("a name is missing");
      report.name = words.take();
      break;
    case ReportKind::mark:
      return {};
  }
  if (report.kind == ReportKind::begin || report.kind == ReportKind::end) return {};
  const auto value = parse_number(words.peek());
  if (!value) return Error(fmt::format("'{}' is not a number", words.peek()));
  if (report.kind == ReportKind::phase && !(*value >= 0 && std::isfinite(*value))) {
    return Error("a phase takes 0 seconds or more");
  }
  report.value = *value;
  words.take();
  return {};
}

bool is_own_key(std::string_view word) {
  return word.starts_with("t=") || word.starts_with("who=") || word.starts_with("set=");
}

// The text of a mark is free; only a t=, who= or set= before or after it is a key.
Status take_mark(Words& words, Report& report) {
  while (is_own_key(words.peek())) TS_CHECK_OK(take_key(words.take(), report));
  std::string_view text = words.rest();
  for (;;) {
    const size_t space = text.rfind(' ');
    const std::string_view last = space == std::string_view::npos ? "" : text.substr(space + 1);
    if (!is_own_key(last) || !take_key(last, report)) break;
    text = trim(text.substr(0, space));
  }
  report.name = text;
  return report.name.empty() ? Error("the text is missing") : Status();
}

}  // namespace

std::optional<double> Report::find(std::string_view wanted) const {
  for (const auto& [name, value] : numbers) {
    if (name == wanted) return value;
  }
  return std::nullopt;
}

std::string_view set_of_word(std::string_view word) {
  for (const SetWord& known : kSetWords) {
    if (known.word == word) return known.set;
  }
  return {};
}

NamedNumber without_set_prefix(std::string_view name) {
  const size_t end = name.find('_');
  if (end == std::string_view::npos || end + 1 == name.size()) return {name, ""};
  const std::string_view set = set_of_word(name.substr(0, end));
  if (set.empty() || set == "train") return {name, ""};
  return {name.substr(end + 1), set};
}

bool is_place_in_training(std::string_view name) {
  return name == "epoch" || name == "of" || name == "step" || name == "duration" ||
         name == "item" || name == "items";
}

Result<Report> parse_report(std::string_view line) {
  Report report;
  TS_CHECK_OK(parse_report(line, report));
  return report;
}

Status parse_report(std::string_view line, Report& report) {
  if (!is_text(line)) return Error("control characters");
  Words words(line);
  const std::string_view first = words.take();
  const auto* const known = std::find_if(kWords.begin(), kWords.end(),
                                         [&](const auto& word) { return word.first == first; });
  if (known == kWords.end()) return Error(fmt::format("unknown word '{}'", first));
  report.kind = known->second;
  report.number.reset();
  report.name.clear();
  report.value = 0;
  report.time_ns.reset();
  report.who.clear();
  report.set.clear();
  report.numbers.clear();
  if (report.kind == ReportKind::mark) return take_mark(words, report);
  TS_CHECK_OK(take_subject(words, report));
  while (!words.empty()) TS_CHECK_OK(take_key(words.take(), report));
  return {};
}

std::string format_report(const Report& report) {
  const auto* const word = std::find_if(
      kWords.begin(), kWords.end(), [&](const auto& each) { return each.second == report.kind; });
  std::string line(word->first);
  const auto add_keys = [&] {
    if (report.time_ns) line += fmt::format(" t={}", *report.time_ns);
    if (!report.who.empty()) line += " who=" + report.who;
    if (!report.set.empty()) line += " set=" + report.set;
  };
  if (report.kind == ReportKind::mark) {
    add_keys();
    return line + " " + report.name;
  }
  if (report.number) line += fmt::format(" {}", *report.number);
  if (!report.name.empty()) line += " " + report.name;
  if (report.kind == ReportKind::phase || report.kind == ReportKind::scalar) {
    line += fmt::format(" {}", report.value);
  }
  for (const auto& [name, value] : report.numbers) line += fmt::format(" {}={}", name, value);
  add_keys();
  return line;
}

}  // namespace trainscope
