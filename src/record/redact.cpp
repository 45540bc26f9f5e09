#include "record/redact.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "record/record.h"
#include "record/secret_shapes.h"

namespace trainscope {

namespace {

// How a value of `authorization` may begin; the secret is the word behind.
constexpr std::array<std::string_view, 6> kSchemes = {"bearer", "basic",     "digest",
                                                      "token",  "negotiate", "apikey"};
// Parts of a signed address: whoever has them may fetch what it leads to.
constexpr std::array<std::string_view, 4> kSignatures = {"sig", "signature", "x-amz-signature",
                                                         "x-goog-signature"};
// Options with a secret that their names do not tell.
struct ProgramOption {
  std::string_view program, option;
};
constexpr std::array<ProgramOption, 5> kProgramOptions = {{{"sshpass", "-p"},
                                                           {"mysql", "-p"},
                                                           {"mysqldump", "-p"},
                                                           {"mariadb", "-p"},
                                                           {"redis-cli", "-a"}}};
// Options whose value is user:password.
constexpr std::array<std::string_view, 4> kUserOptions = {"-u", "-U", "--user", "--proxy-user"};

constexpr std::string_view kBlanks = " \t\r\n";
constexpr size_t kNone = std::string_view::npos;

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

bool is_quote(char c) { return c == '"' || c == '\''; }

template <size_t N>
bool is_any_of(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_scheme(std::string_view word) { return is_any_of(kSchemes, lower(word)); }

// `user:password`, but not uid:gid, host:port, a path or an address.
std::string hidden_password(std::string_view word) {
  const size_t colon = word.find(':');
  if (colon == kNone || colon == 0 || colon + 1 == word.size()) return std::string(word);
  const std::string_view password = word.substr(colon + 1);
  const bool number = password.find_first_not_of("0123456789") == kNone;
  if (number || password.starts_with("//") || word.substr(0, colon).find('/') != kNone) {
    return std::string(word);
  }
  return std::string(word.substr(0, colon + 1)) + std::string(kHidden);
}

std::string redact_bearer(std::string_view text) {
  constexpr std::string_view kBearer = "bearer";
  const std::string lowered = lower(text);
  std::string out;
  size_t done = 0;
  for (size_t at = 0; (at = lowered.find(kBearer, at)) != std::string::npos;) {
    at += kBearer.size();
    const size_t begin = text.find_first_not_of(kBlanks, at);
    if (begin == kNone || begin == at) continue;
    out += text.substr(done, begin - done);
    out += kHidden;
    done = at = std::min(text.find_first_of(" \t\r\n\"'", begin), text.size());
  }
  return out + std::string(text.substr(done));
}

// The text at `at` as a separator: '=' or ':', also written %3D and %3A; '\0' for none.
struct Sign {
  char kind = '\0';
  size_t length = 0;
};
Sign sign_at(std::string_view text, size_t at) {
  if (at >= text.size()) return {};
  if (text[at] == '=' || text[at] == ':') return {text[at], 1};
  const std::string coded = lower(text.substr(at, 3));
  if (coded == "%3d") return {'=', 3};
  if (coded == "%3a") return {':', 3};
  return {};
}

// Behind a quote that may have a backslash before it, as in JSON within a shell's line.
size_t behind_quote(std::string_view text, size_t at) {
  const size_t quote = at < text.size() && text[at] == '\\' ? at + 1 : at;
  return quote < text.size() && is_quote(text[quote]) ? quote + 1 : at;
}

// Where the value of a name that ends at `at` stands: behind `=`, behind `: ` or `":` as headers
// and JSON have it (host:8080 is no such thing), behind a blank for an option, behind `", ` for one
// in a list. npos when no value follows.
size_t value_begin(std::string_view text, size_t at, std::string_view name) {
  const size_t unquoted = behind_quote(text, at);
  const bool quoted = unquoted != at;
  const bool option = name.starts_with('-');
  const size_t place = std::min(text.find_first_not_of(kBlanks, unquoted), text.size());
  const Sign sign = sign_at(text, place);
  const size_t next = std::min(text.find_first_not_of(kBlanks, place + sign.length), text.size());
  if (sign.kind == '=') return next;
  if (sign.kind == ':') {
    const bool field = quoted || sign.length > 1 || next > place + 1 ||
                       (next < text.size() && (is_quote(text[next]) || text[next] == '\\'));
    return field ? next : kNone;
  }
  if (!option || place >= text.size()) return kNone;
  if (quoted && text[place] == ',') return text.find_first_not_of(kBlanks, place + 1);
  // `--token x` within a line for a shell; `--token --lr` is a switch and the next option.
  const bool is_option = text[place] == '-' && (is_switch(name) || text.substr(place, 2) == "--");
  return place > unquoted && !is_option ? place : kNone;
}

// A quoted value ends with its quote, another with a blank; in a URL's query also with &, in JSON
// with what ends a field.
size_t value_end(std::string_view text, size_t begin, std::string_view more_ends) {
  const size_t inner = behind_quote(text, begin);
  if (inner != begin) {
    const std::string_view quote = text.substr(begin, inner - begin);
    const size_t close = text.find(quote, inner);
    return close == kNone ? text.size() : close + quote.size();
  }
  const std::string ends = " \t\r\n\"'" + std::string(more_ends);
  size_t end = begin;  // no further: a long text may have many values
  while (end < text.size() && ends.find(text[end]) == kNone && text.substr(end, 3) != "%26") ++end;
  const size_t next = text.find_first_not_of(" \t", end);
  if (next == kNone || next == end) return end;
  return is_scheme(text.substr(begin, end - begin)) ? value_end(text, next, more_ends) : end;
}

// `Cookie: a=1; b=2`: a header has the whole line, or all up to the quote that it stands in.
size_t header_end(std::string_view text, size_t begin, char before) {
  return std::min(is_quote(before) ? text.find(before, begin) : text.find_first_of("\r\n", begin),
                  text.size());
}

// The place of a secret that a name at [at, end) has; both npos when it has none.
struct Span {
  size_t begin = kNone, end = kNone;
};
Span secret_behind(std::string_view text, size_t at, size_t end) {
  const std::string_view name = text.substr(at, end - at);
  const char before = at == 0 ? ' ' : text[at - 1];
  const bool in_query =
      before == '?' || before == '&' || (at >= 3 && text.substr(at - 3, 3) == "%26");
  const bool signs = in_query && is_any_of(kSignatures, lower(name));
  if (!signs && !names_secret(name)) return {};
  const size_t begin = value_begin(text, end, name);
  if (begin == kNone || begin >= text.size()) return {};
  const bool is_field = behind_quote(text, end) != end;
  const bool header = !is_field && behind_quote(text, begin) == begin &&
                      text.substr(end, begin - end).find(':') != kNone;
  const size_t stop = header ? header_end(text, begin, before)
                             : value_end(text, begin,
                                         in_query   ? "&"
                                         : is_field ? ",}]"
                                                    : "");
  if (!signs && !holds_secret(name, text.substr(begin, stop - begin))) return {};
  return {begin, stop};
}

std::string redact_names(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    // %3Ftoken: the name begins behind the code.
    const bool coded = text[at] == '%' && at + 2 < text.size();
    size_t end = at;
    while (!coded && end < text.size() && is_name_character(text[end])) ++end;
    if (end == at) {
      out += text.substr(at, coded ? 3 : 1);
      at += coded ? 3 : 1;
      continue;
    }
    out += text.substr(at, end - at);
    const auto [begin, stop] = secret_behind(text, at, end);
    at = end;
    if (begin == kNone) continue;
    out += text.substr(end, begin - end);
    const std::string_view value = text.substr(begin, stop - begin);
    const std::string_view quote = value.substr(0, behind_quote(text, begin) - begin);
    const bool closed = value.size() >= 2 * quote.size() && value.ends_with(quote);
    out += (closed ? std::string(quote) : "") + std::string(kHidden);
    out += closed ? quote : "";
    at = stop;
  }
  return out;
}

// `-u me:word` in a line for a shell.
std::string redact_users(std::string_view text) {
  std::string out;
  std::string_view before;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t\r\n\"'", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    out += is_any_of(kUserOptions, before) ? hidden_password(word) : std::string(word);
    if (!word.empty()) before = word;
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

// The name in `--name=…` or `NAME=…` that a word begins with; empty when it is no such word.
std::string_view leading_name(std::string_view word) {
  size_t end = 0;
  while (end < word.size() && is_name_character(word[end])) ++end;
  return end < word.size() && word[end] == '=' ? word.substr(0, end) : std::string_view();
}

}  // namespace

std::string redact_text(std::string_view text) {
  // What follows `Bearer` first: of a name's value only one word may go, and that would be Bearer.
  const std::string named = redact_names(redact_bearer(text));
  return redact_tokens(redact_urls(redact_users(named)));
}

std::map<std::string, std::string> redact_tags(const std::map<std::string, std::string>& tags) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : tags) {
    out[key] = holds_secret(key, value) ? std::string(kHidden) : redact_text(value);
  }
  return out;
}

namespace {

// `sh -c`, `bash -lc`: what follows is a line of several words.
bool introduces_line(std::string_view word) {
  return word.size() >= 2 && word.size() <= 4 && word[0] == '-' && word[1] != '-' &&
         word.back() == 'c';
}

// `--token`, `Authorization:` and `Bearer`: the next word is the value, or what names its kind.
bool introduces_value(std::string_view word) {
  if (word.find_first_of(kBlanks) != kNone) return false;
  if (lower(word) == "bearer") return true;
  const bool option = word.starts_with('-') && leading_name(word).empty();
  return (option || word.ends_with(':')) && names_secret(word);
}

bool is_option_of(std::string_view program, std::string_view option) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return std::any_of(
      kProgramOptions.begin(), kProgramOptions.end(),
      [&](const ProgramOption& known) { return known.program == name && known.option == option; });
}

// Is `word` the secret that the word before it announced?
bool is_value_of(std::string_view before, std::string_view word) {
  if (word.starts_with("--") && word.size() > 2) return false;
  if (word.starts_with('-') && is_switch(before)) return false;
  return lower(before) == "bearer" || is_scheme(before) || holds_secret(before, word);
}

// One word of a command; `value_follows`: the word before it announced a secret.
std::string redact_word(const std::vector<std::string>& command, size_t i, bool value_follows,
                        std::string_view program) {
  const std::string& word = command[i];
  const std::string before = i == 0 ? "" : command[i - 1];
  if (value_follows && is_value_of(before, word)) return std::string(kHidden);
  if (i > 0 && is_option_of(program, before)) return std::string(kHidden);
  if (word.size() > 2 && is_option_of(program, word.substr(0, 2))) {
    return word.substr(0, 2) + std::string(kHidden);
  }
  if (i > 0 && is_any_of(kUserOptions, before)) return redact_text(hidden_password(word));
  if (word.starts_with("-u") || word.starts_with("--user=")) {
    return redact_text(hidden_password(word));
  }
  // What `sh -c` runs is a line of its own, not a name with a value.
  const std::string_view name = i > 0 && introduces_line(before) ? "" : leading_name(word);
  if (name.empty() || !holds_secret(name, std::string_view(word).substr(name.size() + 1))) {
    return redact_text(word);
  }
  // The whole rest of the word: the shell has already cut it where the value ends.
  return std::string(name) + "=" + std::string(kHidden);
}

}  // namespace

std::vector<std::string> redact_command(const std::vector<std::string>& command) {
  std::vector<std::string> out;
  bool value_follows = false;
  std::string_view program;
  for (size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    out.push_back(redact_word(command, i, value_follows, program));
    const bool kind_of_secret = value_follows && is_scheme(word);
    value_follows = kind_of_secret || introduces_value(word);
    // env A=b sshpass -p x ssh …: the last program of the table that was named.
    const std::string_view file = std::string_view(word).substr(word.rfind('/') + 1);
    const bool known =
        std::any_of(kProgramOptions.begin(), kProgramOptions.end(),
                    [&](const ProgramOption& option) { return option.program == file; });
    if (known) program = word;
  }
  return out;
}

}  // namespace trainscope
