#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "record/host/redact_parts.h"
#include "record/host/secret_names.h"
#include "record/host/secret_shapes.h"
#include "record/host/shell_words.h"
#include "record/record.h"

namespace trainscope {

namespace {

// Lines within lines: ssh h "sh -c '…'".
constexpr int kMaxDepth = 4;

// Options with a secret that their names do not indicate, and the subcommand they belong to.
struct ProgramOption {
  std::string_view program, subcommand, option;
};
constexpr std::array<ProgramOption, 22> kProgramOptions = {{
    {"sshpass", "", "-p"},
    {"mysql", "", "-p"},
    {"mysqldump", "", "-p"},
    {"mysqladmin", "", "-p"},
    {"mariadb", "", "-p"},
    {"mongo", "", "-p"},
    {"mongosh", "", "-p"},
    {"mongodump", "", "-p"},
    {"mongorestore", "", "-p"},
    {"redis-cli", "", "-a"},
    {"docker", "login", "-p"},
    {"podman", "login", "-p"},
    {"az", "login", "-p"},
    {"7z", "", "-p"},
    {"7za", "", "-p"},
    {"unzip", "", "-P"},
    {"zip", "", "-P"},
    {"openssl", "", "-passin"},
    {"openssl", "", "-passout"},
    {"curl", "", "-b"},
    {"aws", "", "aws_secret_access_key"},
    {"aws", "", "aws_session_token"},
}};
// Programs whose `login` takes the key itself: `wandb login 0123…`.
constexpr std::array<std::string_view, 2> kKeyLogins = {"wandb", "swanlab"};

// Options whose value is a header, and how the value is joined to them.
constexpr std::array<std::string_view, 3> kHeaderOptions = {"-H", "--header", "--headers"};
constexpr std::array<std::string_view, 3> kJoinedHeaders = {"-H", "--header=", "--headers="};

std::string redact_line_at(std::string_view line, int depth);

// The name in `--name=…` or `NAME=…` at the start of an argument; empty if there is none.
std::string_view leading_name(std::string_view word) {
  size_t end = 0;
  while (end < word.size() && is_name_character(word[end])) ++end;
  return end < word.size() && word[end] == '=' ? word.substr(0, end) : std::string_view();
}

// `sh -c`, `bash -lc`: the next argument is a shell command.
bool introduces_line(std::string_view word) {
  return word.size() >= 2 && word.size() <= 4 && word[0] == '-' && word[1] != '-' &&
         word.back() == 'c';
}

// `--token`, `Authorization:` and `Bearer`: the next argument is the value, or its scheme.
bool introduces_value(std::string_view word) {
  if (word.find_first_of(kBlanks) != kNone) return false;
  if (lower(word) == "bearer") return true;
  const size_t colon = word.find(':');
  if (colon != kNone && colon + 1 < word.size()) return false;  // --token:x has its own
  const bool option = word.starts_with('-') && leading_name(word).empty();
  return (option || word.ends_with(':')) && names_secret(word);
}

// `-H PRIVATE-TOKEN:x`: after an option for headers, a colon without a blank ends the name too.
std::optional<std::string> hide_header(std::string_view before, std::string_view word) {
  size_t begin = is_any_of(kHeaderOptions, before) ? 0 : kNone;
  for (const std::string_view option : kJoinedHeaders) {
    if (begin == kNone && word.starts_with(option)) begin = option.size();
  }
  const size_t colon = begin == kNone ? kNone : word.find(':', begin);
  if (colon == kNone || colon + 1 == word.size()) return std::nullopt;
  const bool is_text = kBlanks.find(word[colon + 1]) != kNone;  // redact_text() does it
  if (is_text || !names_secret(word.substr(begin, colon - begin))) return std::nullopt;
  return std::string(word.substr(0, colon + 1)) + std::string(kHidden);
}

bool is_known_program(std::string_view file) {
  if (is_any_of(kKeyLogins, file)) return true;
  return std::any_of(kProgramOptions.begin(), kProgramOptions.end(),
                     [&](const ProgramOption& known) { return known.program == file; });
}

// {"a": 1}, also after `--config=`: its blanks do not separate words.
bool is_json(std::string_view word) {
  const size_t open = word.find_first_not_of(kBlanks, leading_name(word).size());
  const size_t begin =
      word.find_first_not_of(kBlanks, open == kNone || word[open] != '=' ? open : open + 1);
  if (begin == kNone || (word[begin] != '{' && word[begin] != '[')) return false;
  const size_t next = word.find_first_not_of(" \t\r\n\\", begin + 1);
  return next != kNone && (word[next] == '"' || word[next] == '\'');
}

// Whether `word` is the secret that the previous argument announced.
bool is_value_of(std::string_view before, std::string_view word) {
  if (is_next_option(before, word)) return false;
  return lower(before) == "bearer" || is_scheme(before) || holds_secret(before, word);
}

// Iterates over the arguments of a command; each call of redact() takes the next one.
class CommandRedactor {
 public:
  explicit CommandRedactor(int depth) : depth_(depth) {}

  std::string redact(std::string_view word) {
    std::optional<std::string> hidden = hide_named(word);
    if (!hidden) hidden = hide_unnamed(word);
    advance(word);
    return hidden ? *hidden : redact_text(word);
  }

  // A word of a shell command: redact_text() of the whole line handles names and shapes if the word
  // has no blanks, or if escaped quotes may join it with the next.
  std::string redact_part(const ShellWord& part) {
    if (part.begins_command) *this = CommandRedactor(depth_);
    std::optional<std::string> hidden;
    if (!part.has_escaped_quote) hidden = hide_named(part.text);
    if (!hidden) hidden = hide_unnamed(part.text);
    advance(part.text);
    return hidden ? *hidden : part.text;
  }

 private:
  std::optional<std::string> hide_named(std::string_view word) const {
    if (value_follows_ && is_value_of(before_, word)) return std::string(kHidden);
    // The argument of `sh -c` is a separate command, not a name with a value.
    const std::string_view name = introduces_line(before_) ? "" : leading_name(word);
    if (name.empty() || !holds_secret(name, word.substr(name.size() + 1))) return std::nullopt;
    // The whole rest of the argument: the shell has already cut it where the value ends.
    return std::string(name) + "=" + std::string(kHidden);
  }

  std::optional<std::string> hide_unnamed(std::string_view word) const {
    if (is_option_of_program(before_) || is_key_of_login(word)) return std::string(kHidden);
    if (word.size() > 2 && is_option_of_program(word.substr(0, 2))) {
      return std::string(word.substr(0, 2)) + std::string(kHidden);
    }
    if (auto header = hide_header(before_, word)) return header;
    std::string shown = hide_user_password(before_, word);
    if (shown != word) return redact_text(shown);
    const bool is_line = word.find_first_of(kBlanks) != kNone && depth_ < kMaxDepth &&
                         (introduces_line(before_) || !is_json(word));
    if (is_line) return redact_line_at(word, depth_ + 1);
    return std::nullopt;
  }

  bool is_key_of_login(std::string_view word) const {
    constexpr size_t kLeastKey = 20;
    return is_any_of(kKeyLogins, program_) && subcommand_ == "login" && word.size() >= kLeastKey &&
           std::all_of(word.begin(), word.end(), [](char c) { return is_name_character(c); });
  }

  bool is_option_of_program(std::string_view option) const {
    return std::any_of(kProgramOptions.begin(), kProgramOptions.end(),
                       [&](const ProgramOption& known) {
                         return known.program == program_ && known.option == option &&
                                (known.subcommand.empty() || known.subcommand == subcommand_);
                       });
  }

  void advance(std::string_view word) {
    const bool kind_of_secret = value_follows_ && is_scheme(word);
    value_follows_ = kind_of_secret || introduces_value(word);
    // env A=b sshpass -p x ssh …: the last program of the table that was named.
    const std::string_view file = word.substr(word.rfind('/') + 1);
    if (is_known_program(file)) {
      program_ = file;
      subcommand_.clear();
    } else if (word == "login") {
      subcommand_ = word;
    }
    before_ = word;
  }

  int depth_;
  std::string before_, program_, subcommand_;
  bool value_follows_ = false;
};

std::string redact_line_at(std::string_view line, int depth) {
  CommandRedactor redactor(depth);
  std::string out;
  size_t done = 0;
  for (const ShellWord& part : split_shell_line(line)) {
    const std::string_view raw = line.substr(part.begin, part.end - part.begin);
    const std::string shown = redactor.redact_part(part);
    out += line.substr(done, part.begin - done);
    out += shown == part.text ? std::string(raw) : quote_like(raw, shown);
    done = part.end;
  }
  return redact_text(out + std::string(line.substr(done)));
}

}  // namespace

std::string redact_line(std::string_view line) { return redact_line_at(line, 0); }

std::vector<std::string> redact_command(const std::vector<std::string>& command) {
  CommandRedactor redactor(0);
  std::vector<std::string> out;
  for (const std::string& word : command) out.push_back(redactor.redact(word));
  return out;
}

}  // namespace trainscope
