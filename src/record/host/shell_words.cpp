#include "record/host/shell_words.h"

#include <algorithm>

namespace trainscope {

namespace {

constexpr std::string_view kSeparators = " \t\r\n;|&()<>`";

bool is_separator(char c) { return kSeparators.find(c) != std::string_view::npos; }

class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {
    last_single_ = line.rfind('\'');
    last_double_ = line.rfind('"');
  }

  std::vector<ShellWord> split() {
    std::vector<ShellWord> words;
    bool begins_command = true;
    while (at_ < line_.size()) {
      if (const size_t length = separator_length()) {
        const std::string_view sign = line_.substr(at_, length);
        begins_command = begins_command || sign == ";" || sign == "|" || sign == "\n" ||
                         (sign == "&" && line_.substr(at_ + 1, 1) == "&");
        at_ += length;
        continue;
      }
      words.push_back(read_word());
      words.back().begins_command = begins_command;
      begins_command = false;
    }
    return words;
  }

 private:
  // A backslash before the end of a line separates words too.
  size_t separator_length() const {
    if (line_.substr(at_, 2) == "\\\n") return 2;
    return is_separator(line_[at_]) ? 1 : 0;
  }

  ShellWord read_word() {
    ShellWord word;
    word.begin = at_;
    size_t quoted_end = 0;  // of "abc" or NAME="abc"
    while (at_ < line_.size() && separator_length() == 0) {
      const char c = line_[at_];
      if (c == '\\' && at_ + 1 < line_.size()) {
        word.text += line_[at_ + 1];
        word.has_escaped_quote =
            word.has_escaped_quote || line_[at_ + 1] == '"' || line_[at_ + 1] == '\'';
        at_ += 2;
        continue;
      }
      const bool is_first = at_ == word.begin || line_[at_ - 1] == '=';
      if (!read_quoted(word.text)) {
        word.text += c;
        ++at_;
      } else if (is_first) {
        quoted_end = at_;
      }
    }
    word.end = at_;
    // "abc", and "abc"} in a program's text: the punctuation is not part of the word.
    const std::string_view rest = line_.substr(quoted_end, at_ - quoted_end);
    if (quoted_end > 0 && rest.find_first_not_of(",:}]") == std::string_view::npos) {
      word.end = quoted_end;
      if (rest.starts_with(':')) word.end = at_;
      word.text.resize(word.text.size() - (at_ - word.end));
    }
    return word;
  }

  // Appends the content of the quotes at this position; false if no quote with a partner is here.
  bool read_quoted(std::string& text) {
    const char quote = line_[at_];
    if (quote != '\'' && quote != '"') return false;
    const size_t last = quote == '"' ? last_double_ : last_single_;
    if (last == std::string_view::npos || last <= at_) return false;
    const size_t size = text.size();
    for (size_t i = at_ + 1; i <= last; ++i) {
      if (line_[i] == quote) {
        at_ = i + 1;
        return true;
      }
      const bool escapes = quote == '"' && line_[i] == '\\' && i < last &&
                           std::string_view("\"\\$`").find(line_[i + 1]) != std::string_view::npos;
      if (escapes) ++i;
      text += line_[i];
    }
    // Only escaped quotes follow.
    last_double_ = at_;
    text.resize(size);
    return false;
  }

  std::string_view line_;
  size_t at_ = 0;
  size_t last_single_ = std::string_view::npos, last_double_ = std::string_view::npos;
};

}  // namespace

std::vector<ShellWord> split_shell_line(std::string_view line) { return Splitter(line).split(); }

std::string quote_like(std::string_view raw, std::string_view text) {
  // NAME='a b': the quotes begin after the common part.
  const size_t open = raw.find_first_of("'\"");
  if (open != 0 && open != std::string_view::npos && text.substr(0, open) == raw.substr(0, open)) {
    return std::string(raw.substr(0, open)) + quote_like(raw.substr(open), text.substr(open));
  }
  const char first = raw.empty() ? '\0' : raw.front();
  const bool is_quoted = raw.size() >= 2 && (first == '\'' || first == '"') && raw.back() == first;
  const bool needs_quotes =
      std::any_of(text.begin(), text.end(), [](char c) { return is_separator(c); }) || is_quoted;
  if (!needs_quotes) return std::string(text);
  const char quote = is_quoted ? first : text.find('\'') == std::string_view::npos ? '\'' : '"';
  std::string out(1, quote);
  for (const char c : text) {
    if (quote == '"' && (c == '"' || c == '\\')) out += '\\';
    if (quote == '\'' && c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + quote;
}

}  // namespace trainscope
