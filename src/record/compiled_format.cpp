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

Result<std::unique_ptr<CompiledFormat>> CompiledFormat::compile(const PrintedFormat& format,
                                                                const std::string& pattern) {
  auto compiled = std::make_unique<CompiledFormat>();
  compiled->format_ = format;
  int code = 0;
  PCRE2_SIZE offset = 0;
  compiled->code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                      PCRE2_NEVER_BACKSLASH_C | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF,
                                      &code, &offset, nullptr));
  if (compiled->code_ == nullptr) {
    std::array<PCRE2_UCHAR, 256> words{};
    pcre2_get_error_message(code, words.data(), words.size());
    return Error(fmt::format("'{}' is no regular expression: {} at offset {}", printable(pattern),
                             reinterpret_cast<const char*>(words.data()), offset));
  }
  compiled->data_.reset(pcre2_match_data_create_from_pattern(compiled->code_.get(), nullptr));
  return compiled;
}

bool CompiledFormat::has_group(const char* name) const {
  return pcre2_substring_number_from_name(code_.get(), reinterpret_cast<PCRE2_SPTR>(name)) > 0;
}

std::optional<PrintedMatch> CompiledFormat::match(std::string_view line) const {
  if (!format_.hint.empty() && line.find(format_.hint) == std::string_view::npos) {
    return std::nullopt;
  }
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(context, kMatchLimit);
  const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(line.data()), line.size(),
                                0, 0, data_.get(), context);
  pcre2_match_context_free(context);
  if (found <= 0) return std::nullopt;
  const PCRE2_SIZE* places = pcre2_get_ovector_pointer(data_.get());
  PrintedMatch match;
  match.rest = line.substr(places[1]);
  for (const char* name : kGroups) {
    const int group =
        pcre2_substring_number_from_name(code_.get(), reinterpret_cast<PCRE2_SPTR>(name));
    if (group <= 0 || group >= found || places[2 * group] == PCRE2_UNSET) continue;
    std::string_view text =
        line.substr(places[2 * group], places[2 * group + 1] - places[2 * group]);
    if (text.starts_with('+')) text.remove_prefix(1);
    if (const auto number = parse_number(text)) match.numbers.emplace(name, *number);
  }
  return match;
}

std::optional<double> PrintedMatch::find(std::string_view group) const {
  const auto found = numbers.find(group);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

Status check_steps_pattern(const std::string& pattern) {
  TS_TRY(const auto compiled, CompiledFormat::compile({}, pattern));
  for (const char* name : kGroups) {
    if (compiled->has_group(name)) return {};
  }
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
