#include "record/redact.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "record/record.h"

namespace trainscope {

namespace {

constexpr std::string_view kStars = "***";
constexpr std::array<std::string_view, 9> kSecretWords = {
    "key", "token", "secret", "pass", "credential", "authorization", "cookie", "jwt", "bearer"};
// How a value of `authorization` may begin; the secret is the word behind.
constexpr std::array<std::string_view, 6> kSchemes = {"bearer", "basic",     "digest",
                                                      "token",  "negotiate", "apikey"};
// What training jobs are full of and nobody hides.
constexpr std::array<std::string_view, 9> kHarmless = {"tokeniz",  "keypoint",    "keyframe",
                                                       "keyboard", "monkey",      "keyword",
                                                       "passes",   "passthrough", "bypass"};

constexpr std::string_view kBlanks = " \t\r\n";

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// --max-new-tokens=512 counts tokens; nobody's secret is called so and is a number.
bool counts_tokens(std::string_view name, std::string_view value) {
  return is_number(value) && lower(name).find("tokens") != std::string::npos;
}

// user:password@ behind "scheme://", and long user parts, which are access tokens.
void redact_urls(std::string& text) {
  constexpr size_t kTokenLength = 20;
  size_t at = 0;
  while ((at = text.find("://", at)) != std::string::npos) {
    at += 3;
    const size_t end = std::min(text.find_first_of("/?#\"' \t\r\n", at), text.size());
    const size_t sign = text.rfind('@', end == 0 ? 0 : end - 1);
    if (sign == std::string::npos || sign < at) continue;
    const size_t colon = text.find(':', at);
    if (colon != std::string::npos && colon < sign) {
      text.replace(colon + 1, sign - colon - 1, kStars);
    } else if (sign - at >= kTokenLength) {
      text.replace(at, sign - at, kStars);
    }
  }
}

void redact_bearer(std::string& text) {
  constexpr std::string_view kBearer = "bearer";
  size_t at = 0;
  while ((at = lower(text).find(kBearer, at)) != std::string::npos) {
    at += kBearer.size();
    const size_t begin = text.find_first_not_of(kBlanks, at);
    if (begin == std::string::npos) return;
    if (begin == at) continue;
    const size_t end = std::min(text.find_first_of(" \t\r\n\"'", begin), text.size());
    text.replace(begin, end - begin, kStars);
    at = begin;
  }
}

// Where the value of a name that ends at `at` stands: behind `=`, behind `: ` or `":` as headers
// and JSON have it (host:8080 is no such thing), behind a blank for an option. npos when no value
// follows.
size_t value_begin(std::string_view text, size_t at, bool option) {
  const bool quoted = at < text.size() && (text[at] == '"' || text[at] == '\'');
  const size_t sign = std::min(text.find_first_not_of(kBlanks, quoted ? at + 1 : at), text.size());
  const size_t next = std::min(text.find_first_not_of(kBlanks, sign + 1), text.size());
  if (sign < text.size() && text[sign] == '=') return next;
  if (sign < text.size() && text[sign] == ':') {
    const bool field = quoted || next > sign + 1 || (next < text.size() && text[next] == '"');
    return field ? next : std::string_view::npos;
  }
  // `--token x` within a line for a shell
  if (option && sign > at && sign < text.size() && text[sign] != '-') return sign;
  return std::string_view::npos;
}

bool is_quote(char c) { return c == '"' || c == '\''; }

bool is_scheme(std::string_view word) {
  return std::find(kSchemes.begin(), kSchemes.end(), lower(word)) != kSchemes.end();
}

// A quoted value ends with its quote, another with a blank; in a URL's query also with &.
size_t value_end(std::string_view text, size_t begin, bool in_query) {
  const char first = text[begin];
  if (is_quote(first)) {
    const size_t close = text.find(first, begin + 1);
    return close == std::string_view::npos ? text.size() : close + 1;
  }
  const std::string_view ends = in_query ? "& \t\r\n\"'" : " \t\r\n\"'";
  const size_t end = std::min(text.find_first_of(ends, begin), text.size());
  const size_t next = text.find_first_not_of(" \t", end);
  if (next == std::string_view::npos || next == end) return end;
  return is_scheme(text.substr(begin, end - begin)) ? value_end(text, next, in_query) : end;
}

// `Cookie: a=1; b=2`: a header has the whole line, or all up to the quote that it stands in.
size_t header_end(std::string_view text, size_t begin, char before) {
  return std::min(is_quote(before) ? text.find(before, begin) : text.find_first_of("\r\n", begin),
                  text.size());
}

std::string redact_names(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() && is_name_character(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view name = text.substr(at, end - at);
    out += name;
    const char before = at == 0 ? ' ' : text[at - 1];
    const size_t begin =
        names_secret(name) ? value_begin(text, end, name.starts_with('-')) : std::string_view::npos;
    at = end;
    if (begin == std::string_view::npos || begin >= text.size()) continue;
    const bool header = !is_quote(text[end]) && !is_quote(text[begin]) &&
                        text.substr(end, begin - end).find(':') != std::string_view::npos;
    const size_t stop = header ? header_end(text, begin, before)
                               : value_end(text, begin, before == '?' || before == '&');
    const std::string_view value = text.substr(begin, stop - begin);
    if (counts_tokens(name, value)) continue;
    out += text.substr(end, begin - end);
    const bool quoted =
        value.size() >= 2 && value.front() == value.back() && is_quote(value.front());
    out += quoted ? value.front() + std::string(kStars) + value.front() : std::string(kStars);
    at = stop;
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

bool names_secret(std::string_view name) {
  std::string text = lower(name);
  for (const std::string_view harmless : kHarmless) {
    for (size_t at = 0; (at = text.find(harmless)) != std::string::npos;) {
      text.erase(at, harmless.size());
    }
  }
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

std::string redact_text(std::string_view text) {
  // What follows `Bearer` first: of a name's value only one word may go, and that would be Bearer.
  std::string known(text);
  redact_bearer(known);
  std::string out = redact_names(known);
  redact_urls(out);
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
  if (word.find_first_of(kBlanks) != std::string_view::npos) return false;
  if (lower(word) == "bearer") return true;
  const bool option = word.starts_with('-') && leading_name(word).empty();
  return (option || word.ends_with(':')) && names_secret(word);
}

}  // namespace

std::vector<std::string> redact_command(const std::vector<std::string>& command) {
  std::vector<std::string> out;
  bool value_follows = false;
  for (const std::string& word : command) {
    const std::string_view name = leading_name(word);
    // What `sh -c` runs is a line of its own, not a name with a value.
    const bool is_line = !out.empty() && introduces_line(command[out.size() - 1]);
    if (value_follows && !word.starts_with('-') && !counts_tokens(command[out.size() - 1], word)) {
      out.emplace_back(kStars);
    } else if (!is_line && !name.empty() && names_secret(name)) {
      // The whole rest of the word: the shell has already cut it where the value ends.
      const bool count = counts_tokens(name, std::string_view(word).substr(name.size() + 1));
      out.push_back(count ? word : std::string(name) + "=" + std::string(kStars));
    } else {
      out.push_back(redact_text(word));
    }
    const bool kind_of_secret = value_follows && is_scheme(word);
    value_follows = kind_of_secret || introduces_value(word);
  }
  return out;
}

}  // namespace trainscope
