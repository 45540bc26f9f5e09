#include "record/intake/compiled_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
#include "record/record.h"

namespace trainscope {

namespace {

constexpr std::array<const char*, 22> kGroups = {
    "step",     "index",        "of",          "item",      "items",         "epoch",
    "loss",     "accuracy",     "percent",     "lr",        "throughput",    "seconds",
    "val_loss", "val_accuracy", "val_percent", "test_loss", "test_accuracy", "test_right",
    "test_all", "test_percent", "loss_d",      "loss_g"};
// Placeholders in the patterns of the table, and their expansion. A placeholder may contain those
// after it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords = {{
    {"JSON_NUMBERS",
     R"((?!.*["'](?:split|mode|phase|stage|set)["']\s*+:\s*+["'](?i:val|eval|test)))"
     R"((?=(?:.*["']epoch["']\s*+:\s*+(?<epoch>\d+)\s*+[,}])?))"
     R"((?=(?:.*["'](?:train[_/])?loss["']\s*+:\s*+["']?(?<loss>NUM))?))"
     R"((?=(?:.*["'](?:train[_/])?acc(?:uracy)?["']\s*+:\s*+["']?(?<accuracy>NUM))?))"
     R"((?=(?:.*["'](?:lr|learning_rate)["']\s*+:\s*+["']?(?<lr>NUM))?))"
     R"((?=(?:.*["'](?:val|valid|validation|eval)[_/]loss["']\s*+:\s*+["']?(?<val_loss>NUM))?))"
     R"((?=(?:.*["'](?:val|valid|validation|eval)[_/]acc(?:uracy)?["']\s*+:\s*+["']?(?<val_accuracy>NUM))?))"
     R"((?=(?:.*["']test[_/]loss["']\s*+:\s*+["']?(?<test_loss>NUM))?))"},
    {"MEMBERS",
     R"((?:(?:"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+')\s*+:\s*+)"
     R"((?:"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+'|\[[^\[\]]*+\]|\{[^{}]*+\}|[^"'\[\]{},]++))"
     R"(\s*+,\s*+)*?)"},
    {"OTHER_SETS",
     R"((?=(?:.*?\b(?:val|valid|validation|eval)[ _]loss\b[\s:=]*(?<val_loss>NUM))?))"
     R"((?=(?:.*?\b(?:val|valid|validation|eval)[ _]acc(?:uracy)?\b[\s:=]*(?<val_accuracy>(?>NUM)))?))"
     R"((?=(?:.*?\btest[ _]loss\b[\s:=]*(?<test_loss>NUM))?))"
     R"((?=(?:.*?\btest[ _]acc(?:uracy)?\b[\s:=]*(?<test_accuracy>(?>NUM)))?))"},
    // Begins with what most places of a line fail at.
    {"NOT_HELD_OUT_", R"(\b(?=[alt])(?<!val |valid |validation |eval |test ))"},
    {"NUM", R"((?:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)\b))"},
    {"COUNT", R"((?:\d{1,3}(?:,\d{3})++(?!\d)|\d+))"},
    {"NOT_OTHER",
     R"((?![^|\[]*(?i:valid|eval|test|sanity|predict|download|load|map|filter|fetch|generat|)"
     R"(token|extract|sav|writ|scanning|caching|mAP50|top1_acc)[^|\[]*[|\[]))"},
}};
// A pattern may take for ever on a line that does not match; one of the user's on any.
constexpr uint32_t kMatchLimit = 100'000;

}  // namespace

CompiledFormat::CompiledFormat(PrintedFormat format, Pattern pattern)
    : format_(format), pattern_(std::move(pattern)) {
  for (const char* name : kGroups) {
    if (const size_t number = pattern_.group_number(name); number > 0) {
      groups_.emplace_back(name, number);
    }
  }
}

Result<CompiledFormat> CompiledFormat::compile(const PrintedFormat& format,
                                               const std::string& pattern) {
  Pattern::Fault fault;
  auto compiled = Pattern::compile(pattern, Pattern::Text::utf8, kMatchLimit, fault);
  if (!compiled) {
    return Error(fmt::format("invalid regular expression '{}': {} at offset {}", printable(pattern),
                             fault.message, fault.offset));
  }
  return CompiledFormat(format, std::move(*compiled));
}

bool may_match(const PrintedFormat& format, std::string_view line) {
  return line.starts_with(format.begins) && line.find(format.hint) != std::string_view::npos &&
         line.find(format.second_hint) != std::string_view::npos;
}

namespace {

bool is_count(std::string_view name) { return name == "step" || name == "of"; }

// "Acc: 40.00%" is a ratio of 0.4, whatever the group is called.
bool is_percentage(std::string_view name, std::string_view text, std::string_view line) {
  if (!name.ends_with("accuracy") || text.empty()) return false;
  if (text.ends_with('%')) return true;
  const auto end = static_cast<size_t>(text.data() - line.data()) + text.size();
  const size_t next = line.find_first_not_of(' ', end);
  return next != std::string_view::npos && line[next] == '%';
}

}  // namespace

Pattern::Answer CompiledFormat::match(std::string_view line, PrintedMatch& match) const {
  const Pattern::Answer answer = pattern_.find_in(line);
  if (answer != Pattern::Answer::yes) return answer;
  match.numbers.clear();
  for (const auto& [name, number] : groups_) {
    std::string_view text = pattern_.group(number, line).value_or(std::string_view());
    const bool is_percent = is_percentage(name, text, line);
    const double factor = is_percent ? 0.01 : 1;
    if (is_percent && text.ends_with('%')) text.remove_suffix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    std::string without_commas;
    // Only counts are written so: the comma of "loss 0,537" is another one.
    if (is_count(name) && text.find(',') != std::string_view::npos) {
      std::remove_copy(text.begin(), text.end(), std::back_inserter(without_commas), ',');
      text = without_commas;
    }
    if (const auto value = parse_number(text)) match.numbers.emplace_back(name, *value * factor);
  }
  return answer;
}

std::optional<double> PrintedMatch::find(std::string_view group) const {
  for (const auto& [name, value] : numbers) {
    if (name == group) return value;
  }
  return std::nullopt;
}

Status check_steps_pattern(const std::string& pattern) {
  TS_TRY(const auto compiled, CompiledFormat::compile({}, pattern));
  if (compiled.has_groups()) return {};
  return Error(fmt::format(
      "'{}' has no named group; put (?<step>\\d+) around the step number, and (?<loss>…), "
      "(?<accuracy>…), (?<throughput>…) around other values",
      printable(pattern)));
}

std::string expand_placeholders(std::string_view pattern) {
  std::string whole(pattern);
  for (const auto& [word, meaning] : kWords) {
    for (size_t at = whole.find(word); at != std::string::npos;
         at = whole.find(word, at + meaning.size())) {
      whole.replace(at, word.size(), meaning);
    }
  }
  return whole;
}

}  // namespace trainscope
