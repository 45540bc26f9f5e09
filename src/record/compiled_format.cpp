#include "record/compiled_format.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "record/record.h"

namespace trainscope {

namespace {

constexpr std::array<const char*, 11> kGroups = {
    "step",       "of",      "epoch",    "loss",         "accuracy",   "percent",
    "throughput", "seconds", "val_loss", "val_accuracy", "val_percent"};
// What words of the table's patterns stand for.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kWords = {{
    {"NUM", R"((?:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)\b))"},
    {"NOT_OTHER",
     R"((?!\s*[^|\[]*(?i:valid|eval|test|sanity|predict|download|load|map|filter|fetch|generat|)"
     R"(token|extract|sav|writ)[^|\[]*[|\[]))"},
}};
// A pattern of the user's may take for ever on a line that does not match.
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
    return Error(fmt::format("'{}' is no regular expression: {} at offset {}", printable(pattern),
                             fault.words, fault.offset));
  }
  return CompiledFormat(format, std::move(*compiled));
}

std::optional<PrintedMatch> CompiledFormat::match(std::string_view line) const {
  if (!format_.hint.empty() && line.find(format_.hint) == std::string_view::npos) {
    return std::nullopt;
  }
  if (pattern_.find_in(line) != Pattern::Answer::yes) return std::nullopt;
  PrintedMatch match;
  for (const auto& [name, number] : groups_) {
    std::string_view text = pattern_.group(number, line).value_or(std::string_view());
    if (text.starts_with('+')) text.remove_prefix(1);
    if (const auto value = parse_number(text)) match.numbers.emplace(name, *value);
  }
  return match;
}

std::optional<double> PrintedMatch::find(std::string_view group) const {
  const auto found = numbers.find(group);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

Status check_steps_pattern(const std::string& pattern) {
  TS_TRY(const auto compiled, CompiledFormat::compile({}, pattern));
  if (compiled.has_groups()) return {};
  return Error(fmt::format(
      "'{}' names no group: write (?<step>\\d+) around the number of the step, and (?<loss>…), "
      "(?<accuracy>…), (?<throughput>…) around the others",
      printable(pattern)));
}

std::string written_out(std::string_view pattern) {
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
