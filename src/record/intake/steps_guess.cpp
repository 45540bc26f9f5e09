#include "record/intake/steps_guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.h"
#include "record/intake/compiled_format.h"

namespace trainscope {

namespace {

constexpr int kMaxLines = 5000;
constexpr size_t kMaxGuessedLineBytes = 1024, kMaxTexts = 256, kMaxTextBytes = 24;
constexpr int kMaxIntegers = 4;
constexpr size_t kMaxDigits = 15;
constexpr int kLeastLines = 5;
constexpr double kLeastGrown = 0.8;  // of the lines; a number may begin again in each epoch
constexpr std::array<std::string_view, 8> kStepWords = {"step",  "iter",   "batch", "update",
                                                        "round", "global", "it",    "epoch"};
constexpr char kLineBegins = '^';

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) { return c == ' ' || c == '\t'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// Part of a decimal number, a date, a time, an address, a percentage, or a number with a unit.
bool is_part_of_other(std::string_view line, size_t begin, size_t end) {
  constexpr std::string_view kJoins = ".:-,";
  const char before = begin > 0 ? line[begin - 1] : ' ',
             after = end < line.size() ? line[end] : ' ';
  if (before == '-' || before == '.' || after == '%' || after == '_' || is_letter(after))
    return true;
  const bool joins_before =
      begin > 1 && kJoins.find(before) != std::string_view::npos && is_digit(line[begin - 2]);
  const bool joins_after = end + 1 < line.size() && kJoins.find(after) != std::string_view::npos &&
                           is_digit(line[end + 1]);
  return joins_before || joins_after;
}

// With single spaces, and the last bytes only, from the beginning of a word.
std::string text_before(std::string_view line, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) {
    const bool repeats = is_space(line[i]) && !text.empty() && text.back() == ' ';
    if (!repeats) text += is_space(line[i]) ? ' ' : line[i];
  }
  // After a bracket or an equals sign, spaces fill the width of the number.
  if (text.ends_with(' ') && (text.size() == 1 || !is_letter(text[text.size() - 2])))
    text.pop_back();
  if (begin > 0 && text.starts_with(' ')) text.erase(0, 1);
  if (text.size() <= kMaxTextBytes) return begin == 0 ? kLineBegins + text : text;
  const size_t space = text.find(' ', text.size() - kMaxTextBytes);
  return space == std::string::npos ? "" : text.substr(space + 1);
}

bool has_letter(std::string_view text) { return std::any_of(text.begin(), text.end(), is_letter); }

// The last word of "train step: ", in lower case.
std::string last_word(std::string_view text) {
  std::string word;
  for (size_t i = text.size(); i > 0; --i) {
    const char c = text[i - 1];
    if (is_letter(c)) {
      word.insert(word.begin(), lower(c));
    } else if (!word.empty()) {
      break;
    }
  }
  return word;
}

bool is_step_word(const std::string& word) {
  return std::any_of(kStepWords.begin(), kStepWords.end(),
                     [&](std::string_view each) { return word.starts_with(each); });
}

// Downloads, evaluations and the like, as for progress bars.
bool is_of_other_work(std::string text) {
  std::erase_if(text, [](char c) { return c == '|' || c == '['; });
  const auto training = CompiledFormat::compile({}, "^" + expand_placeholders("NOT_OTHER"));
  PrintedMatch ignored;
  return training && training->match(text + "|", ignored) == Pattern::Answer::no;
}

// "loss: 0.25", "Loss=0.25", "train_loss 0.25" after this position: the word with what follows it,
// up to the number. Nothing if the rest of the line names no loss.
std::string_view loss_word(std::string_view line, size_t from) {
  constexpr std::string_view kBefore = " :=\t";
  for (const std::string_view word : {"loss", "Loss", "LOSS"}) {
    const size_t at = line.find(word, from);
    if (at == std::string_view::npos) continue;
    const size_t end = at + word.size();
    const size_t number = line.find_first_not_of(kBefore, end);
    if (number == std::string_view::npos || number == end) continue;
    const bool is_negative = line[number] == '-' && number + 1 < line.size();
    if (is_digit(line[number + (is_negative ? 1 : 0)])) return line.substr(at, word.size());
  }
  return {};
}

// Of Python, of PyTorch's C++ errors and of debuggers.
bool is_of_stack_trace(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  if (line.starts_with("frame #") || line.starts_with("File \"") || line.starts_with("at 0x"))
    return true;
  return line.size() > 1 && line.front() == '#' && is_digit(line[1]);
}

// A pattern that the text before the integer matches. A quote may not end the shell's own.
std::string escaped(std::string_view text) {
  constexpr std::string_view kSpecial = R"(\^$.[]|()?*+{}#)";
  std::string pattern;
  for (const char c : text) {
    if (c == ' ') {
      pattern += "\\s+";
    } else if (c == '\'') {
      pattern += '.';
    } else {
      if (kSpecial.find(c) != std::string_view::npos) pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

std::string pattern_for(const std::string& text) {
  const bool from_beginning = text.starts_with(kLineBegins);
  const std::string_view rest = std::string_view(text).substr(from_beginning ? 1 : 0);
  const std::string group = last_word(rest) == "epoch" ? "epoch" : "step";
  const bool is_indented = from_beginning && (rest.empty() || rest.front() == ' ');
  const std::string_view shown = is_indented && !rest.empty() ? rest.substr(1) : rest;
  const bool is_padded = !shown.empty() && shown.back() != ' ' && !is_letter(shown.back());
  return fmt::format(R"({}{}{}{}(?<{}>\d+))", from_beginning ? "^" : "", is_indented ? "\\s*" : "",
                     escaped(shown), is_padded ? "\\s*" : "", group);
}

// What follows the group of the step in a line that names the loss after it.
std::string loss_pattern(std::string_view line) {
  return fmt::format(R"(.*?{}[\s:=]+(?<loss>[-+.\deE]+))", loss_word(line, 0));
}

}  // namespace

void StepsGuess::observe(std::string_view line) {
  if (lines_ >= kMaxLines || line.size() > kMaxGuessedLineBytes) return;
  ++lines_;
  const std::string plain = plain_line(line);
  line = plain;
  if (is_of_stack_trace(line)) return;
  std::vector<Integer> integers;
  size_t text_begin = 0;
  for (size_t i = 0; i < line.size() && integers.size() < kMaxIntegers;) {
    if (!is_digit(line[i])) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < line.size() && is_digit(line[i])) ++i;
    if (i - begin <= kMaxDigits && !is_part_of_other(line, begin, i)) {
      const auto value = parse_integer(line.substr(begin, i - begin));
      if (value) integers.push_back({text_before(line, text_begin, begin), *value, i});
    }
    text_begin = i;
  }
  // A pattern finds the first integer after its text.
  for (size_t i = 0; i < integers.size(); ++i) {
    const auto is_same = [&](const Integer& other) { return other.text == integers[i].text; };
    if (std::none_of(integers.begin(), integers.begin() + static_cast<std::ptrdiff_t>(i),
                     is_same)) {
      count(integers[i], line);
    }
  }
}

void StepsGuess::count(const Integer& integer, std::string_view line) {
  const bool is_anchored = integer.text.starts_with(kLineBegins);
  if (!is_anchored && !has_letter(integer.text)) return;
  if (seen_.size() >= kMaxTexts && !seen_.contains(integer.text)) {
    std::erase_if(seen_, [](const auto& each) { return each.second.count == 1; });
    if (seen_.size() >= kMaxTexts) return;
  }
  Seen& seen = seen_[integer.text];
  if (seen.count++ > 0) {
    const int64_t increment = integer.value - seen.last;
    seen.grown += increment > 0 ? 1 : 0;
    seen.regular += increment > 0 && increment == seen.last_increment ? 1 : 0;
    seen.last_increment = increment;
  }
  seen.with_loss += loss_word(line, integer.end).empty() ? 0 : 1;
  seen.last = integer.value;
  seen.line = line;
}

// The number of lines counts, then whether the text names steps and the number grows evenly.
double StepsGuess::score(const std::string& text, const Seen& seen) {
  if (seen.count < kLeastLines || seen.grown < kLeastGrown * (seen.count - 1)) return 0;
  const std::string word = last_word(text);
  const bool is_regular = 2 * seen.regular >= seen.count - 2;
  return seen.count * (1.0 + (is_step_word(word) ? 2 : 0) + (is_regular ? 1 : 0));
}

std::string StepsGuess::pattern() const {
  std::vector<std::pair<double, const std::string*>> ranked;
  for (const auto& [text, seen] : seen_) {
    if (const double points = score(text, seen); points > 0) ranked.emplace_back(-points, &text);
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [points, text] : ranked) {
    if (is_of_other_work(*text)) continue;
    const Seen& seen = seen_.at(*text);
    std::string pattern = pattern_for(*text);
    if (seen.with_loss == seen.count) pattern += loss_pattern(seen.line);
    const auto compiled = CompiledFormat::compile({}, pattern);
    PrintedMatch match;
    if (!compiled || compiled->match(seen.line, match) != Pattern::Answer::yes) continue;
    const auto found = match.find("step") ? match.find("step") : match.find("epoch");
    if (found == static_cast<double>(seen.last)) return pattern;
  }
  return "";
}

}  // namespace trainscope
