#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "record/host/redact_parts.h"
#include "record/host/secret_names.h"
#include "record/host/secret_shapes.h"
#include "record/record.h"

namespace trainscope {

namespace {

// Schemes of `authorization`; the secret is the word after it.
constexpr std::array<std::string_view, 6> kSchemes = {"bearer", "basic",     "digest",
                                                      "token",  "negotiate", "apikey"};
// Parts of a signed address, which grant access to what it addresses.
constexpr std::array<std::string_view, 4> kSignatures = {"sig", "signature", "x-amz-signature",
                                                         "x-goog-signature"};
// Options whose value is user:password, and how the value is joined to them.
constexpr std::array<std::string_view, 4> kUserOptions = {"-u", "-U", "--user", "--proxy-user"};
constexpr std::array<std::string_view, 4> kJoinedUsers = {"-u", "-U", "--user=", "--proxy-user="};

bool is_quote(char c) { return c == '"' || c == '\''; }

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == kNone; }

// `user:password`, but not uid:gid, a path or an address.
std::string hidden_password(std::string_view word) {
  const size_t colon = word.find(':');
  if (colon == kNone || colon == 0 || colon + 1 == word.size()) return std::string(word);
  const std::string_view user = word.substr(0, colon), password = word.substr(colon + 1);
  // -u $(id -u):$(id -g) has no user in `):$(id`.
  const bool is_user = std::any_of(user.begin(), user.end(), is_name_character);
  const bool is_id = is_number(user) && is_number(password);
  if (!is_user || is_id || password.starts_with("//") || user.find('/') != kNone) {
    return std::string(word);
  }
  return std::string(user) + ":" + std::string(kHidden);
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

// After a quote that may have a backslash before it, as in JSON within a shell command.
size_t behind_quote(std::string_view text, size_t at) {
  const size_t quote = at < text.size() && text[at] == '\\' ? at + 1 : at;
  return quote < text.size() && is_quote(text[quote]) ? quote + 1 : at;
}

// Position of the value of a name that ends at `at`: after `=`, after `: ` or `":` as in headers
// and JSON (host:8080 is not one, --token:x is), after a blank for an option, after `", ` for one
// in a list. npos if no value follows.
size_t value_begin(std::string_view text, size_t at, std::string_view name) {
  const size_t unquoted = behind_quote(text, at);
  const bool quoted = unquoted != at;
  const bool option = name.starts_with('-');
  // os.environ['API_KEY'] = 'x'
  const size_t behind = quoted && text.substr(unquoted, 1) == "]" ? unquoted + 1 : unquoted;
  const size_t place = std::min(text.find_first_not_of(kBlanks, behind), text.size());
  const Sign sign = sign_at(text, place);
  const size_t next = std::min(text.find_first_not_of(kBlanks, place + sign.length), text.size());
  if (sign.kind == '=') return next;
  if (sign.kind == ':') {
    const bool field = quoted || option || sign.length > 1 || next > place + 1 ||
                       (next < text.size() && (is_quote(text[next]) || text[next] == '\\'));
    return field ? next : kNone;
  }
  if (!option || place >= text.size()) return kNone;
  if (quoted && text[place] == ',') return text.find_first_not_of(kBlanks, place + 1);
  // `--token x` within a line for a shell; `--token --lr` is a switch and the next option.
  if (place == unquoted) return kNone;
  const size_t end = std::min(text.find_first_of(" \t\r\n\"'", place), text.size());
  return is_next_option(name, text.substr(place, end - place)) ? kNone : place;
}

// Whether a word ends at `at`, where a quote has just closed.
bool ends_behind_quote(std::string_view text, size_t at) {
  constexpr std::string_view kEnds = " \t\r\n;)}]&|<>";
  if (at >= text.size() || kEnds.find(text[at]) != kNone) return true;
  return text[at] == ',' && (at + 1 == text.size() || kBlanks.find(text[at + 1]) != kNone);
}

// Position after the partner of the quote that ends before `inner`; an escaped quote is not a
// partner.
size_t behind_partner(std::string_view text, size_t inner, std::string_view quote) {
  for (size_t at = inner; at < text.size(); ++at) {
    if (text.substr(at, quote.size()) == quote) return at + quote.size();
    if (text[at] == '\\') ++at;
  }
  return text.size();
}

// Where a value ends: at a blank outside quotes, in a URL's query also at &, in JSON at the end of
// a field; `outer`: at the quote that the name follows directly.
struct Stops {
  std::string_view ends, outer;
};
size_t value_end(std::string_view text, size_t begin, const Stops& stops) {
  size_t end = begin;  // no further: a long text may have many values
  while (end < text.size() && text.substr(end, 3) != "%26") {
    const char c = text[end];
    const size_t inner = behind_quote(text, end);
    const bool is_escaped = inner == end + 2;
    if (inner != end) {
      const std::string_view quote = text.substr(end, inner - end);
      const bool closes = quote == stops.outer || (!is_escaped && ends_behind_quote(text, inner));
      if (end > begin && closes) break;
      end = is_escaped && end > begin ? inner : behind_partner(text, inner, quote);
      if (ends_behind_quote(text, end)) break;
      continue;
    }
    if (kBlanks.find(c) != kNone || stops.ends.find(c) != kNone) break;
    end += c == '\\' && end + 1 < text.size() ? 2 : 1;
  }
  const size_t next = text.find_first_not_of(" \t", end);
  if (next == kNone || next == end) return end;
  return is_scheme(text.substr(begin, end - begin)) ? value_end(text, next, stops) : end;
}

// `Cookie: a=1; b=2`: a header takes the whole line, or everything up to its closing quote.
size_t header_end(std::string_view text, size_t begin, std::string_view outer) {
  if (outer.empty()) return std::min(text.find_first_of("\r\n", begin), text.size());
  const size_t end = behind_partner(text, begin, outer);
  return text.substr(begin, end - begin).ends_with(outer) ? end - outer.size() : end;
}

// The quote that ends at `at`, with the backslash before it; empty if there is none.
std::string_view quote_before(std::string_view text, size_t at) {
  if (at == 0 || !is_quote(text[at - 1])) return {};
  return at >= 2 && text[at - 2] == '\\' ? text.substr(at - 2, 2) : text.substr(at - 1, 1);
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
  const bool signs = (in_query || before == ';') && is_any_of(kSignatures, lower(name));
  if (!signs && !names_secret(name)) return {};
  const size_t begin = value_begin(text, end, name);
  if (begin == kNone || begin >= text.size()) return {};
  const bool is_field = behind_quote(text, end) != end;
  const bool header = !is_field && behind_quote(text, begin) == begin &&
                      text.substr(end, begin - end).find(':') != kNone;
  const std::string_view outer = quote_before(text, at);
  const size_t stop = header ? header_end(text, begin, outer)
                             : value_end(text, begin,
                                         {.ends = in_query   ? "&"
                                                  : is_field ? ",}]"
                                                             : "",
                                          .outer = outer});
  if (!signs && !holds_secret(name, text.substr(begin, stop - begin))) return {};
  return {begin, stop};
}

std::string redact_names(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    // %3Ftoken: the name begins after the code.
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

// `-u me:word` and `--user=me:word`.
std::string redact_users(std::string_view text) {
  std::string out;
  std::string_view before;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t\r\n\"'", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    out += hide_user_password(before, word);
    if (!word.empty()) before = word;
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

}  // namespace

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

bool is_scheme(std::string_view word) { return is_any_of(kSchemes, lower(word)); }

bool is_next_option(std::string_view name, std::string_view word) {
  if (!word.starts_with('-')) return false;
  if (is_switch(name)) return true;
  if (!word.starts_with("--") || word.size() == 2) return false;
  // Most parsers take the next argument, whatever it is: only --host=db is certainly an option.
  const size_t sign = word.find('=');
  return !is_certain_secret(name) || (sign != kNone && sign + 1 < word.size());
}

std::string hide_user_password(std::string_view before, std::string_view word) {
  if (is_any_of(kUserOptions, before)) return hidden_password(word);
  for (const std::string_view option : kJoinedUsers) {
    if (!word.starts_with(option)) continue;
    return std::string(option) + hidden_password(word.substr(option.size()));
  }
  return std::string(word);
}

std::string redact_text(std::string_view text) {
  // `Bearer` is handled first: only one word of a value is hidden, and that would be Bearer.
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

}  // namespace trainscope
