#include "record/host/secret_shapes.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace trainscope {

namespace {

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// --- URLs

bool is_port(std::string_view text) {
  return text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// localhost, 10.0.0.1, a.b.org:8080: the host between a password and a path.
bool looks_like_host(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (colon != std::string_view::npos && !is_port(text.substr(colon + 1))) return false;
  return name == "localhost" || (name.find('.') != std::string_view::npos &&
                                 std::all_of(name.begin(), name.end(), [](char c) {
                                   return is_alnum(c) || c == '.' || c == '-';
                                 }));
}

// Position of the `@` that ends the credentials, npos if there are none; `last` is the last one of
// all. A password may contain characters that end the host part elsewhere (/, ?, #), and @ itself.
size_t end_of_credentials(std::string_view url, size_t last) {
  const size_t host_end = std::min(url.find_first_of("/?#"), url.size());
  const size_t inside = url.substr(0, host_end).rfind('@');
  if (inside != std::string_view::npos) {
    const bool whole = looks_like_host(url.substr(inside + 1, host_end - inside - 1));
    const bool has_colon = url.substr(0, inside).find(':') != std::string_view::npos;
    return whole || !has_colon || last == inside ? inside : last;
  }
  // http://host:80/a@b has no credentials; https://me:pa/ss@host has.
  const size_t colon = url.substr(0, host_end).find(':');
  const bool has_port =
      colon == std::string_view::npos || is_port(url.substr(colon + 1, host_end - colon - 1));
  return has_port ? std::string_view::npos : last;
}

// The host that a password is for, without a scheme before it: db.lab.org, 10.0.0.1, proxy:3128;
// not the digest of an image or a version, as in pkg:npm/foo@1.2.3.
bool is_place(std::string_view host) {
  const size_t colon = host.find(':');
  const std::string_view name = host.substr(0, colon);
  if (name.empty() || name.starts_with("sha") || name.starts_with("md5")) return false;
  const bool has_letter = std::any_of(name.begin(), name.end(),
                                      [](char c) { return is_alnum(c) && (c < '0' || c > '9'); });
  const bool is_address = !has_letter && std::count(name.begin(), name.end(), '.') == 3;
  const bool has_port =
      colon != std::string_view::npos && colon + 1 < host.size() && is_port(host.substr(colon + 1));
  return has_port || (looks_like_host(host) && (has_letter || is_address));
}

// me:word@host without a scheme, as proxies are given.
std::string redact_address(std::string_view word) {
  const size_t colon = word.find(':'), sign = word.rfind('@');
  if (colon == std::string_view::npos || sign == std::string_view::npos) return std::string(word);
  const size_t name_end = word.find('=');  // of --proxy=me:word@host
  const size_t begin = name_end < colon ? name_end + 1 : 0;
  const std::string_view user = word.substr(begin, colon - begin);
  const bool is_user =
      !user.empty() && user != "mailto" && std::all_of(user.begin(), user.end(), [](char c) {
        return is_alnum(c) || c == '_' || c == '-' || c == '.';
      });
  const std::string_view place = word.substr(sign + 1);
  const bool is_known =
      is_user && sign > colon + 1 && is_place(place.substr(0, place.find_first_of("/?#")));
  if (!is_known) return std::string(word);
  return std::string(word.substr(0, colon + 1)) + std::string(kHidden) +
         std::string(word.substr(sign));
}

// Addresses that let whoever knows them write to a channel, as jobs do that report their end.
constexpr std::array<std::string_view, 6> kWebhooks = {
    "hooks.slack.com/",    "discord.com/api/webhooks/", "discordapp.com/api/webhooks/",
    "webhook.office.com/", "api.telegram.org/bot",      "chat.googleapis.com/v1/spaces/"};

// The rest of the word after the first of them is hidden: it may have another one.
std::string redact_webhook(std::string_view word) {
  size_t first = word.size();
  for (const std::string_view webhook : kWebhooks) {
    const size_t at = word.find(webhook);
    if (at != std::string_view::npos) first = std::min(first, at + webhook.size());
  }
  if (first == word.size()) return std::string(word);
  return std::string(word.substr(0, first)) + std::string(kHidden);
}

std::string redact_urls_of_word(std::string_view word) {
  constexpr size_t kTokenLength = 20;
  constexpr std::string_view kMark = "://";
  const size_t last = word.rfind('@');
  std::string out;
  size_t done = 0;
  for (size_t at = 0; (at = word.find(kMark, at)) != std::string_view::npos;) {
    at += kMark.size();
    if (last == std::string_view::npos || last < at) break;
    const std::string_view url = word.substr(at);
    const size_t sign = end_of_credentials(url, last - at);
    if (sign == std::string_view::npos) continue;
    const size_t colon = url.substr(0, sign).find(':');
    if (colon == std::string_view::npos && sign < kTokenLength) continue;
    const size_t begin = colon == std::string_view::npos ? at : at + colon + 1;
    out += word.substr(done, begin - done);
    out += kHidden;
    done = at = at + sign;
  }
  return out + std::string(word.substr(done));
}

// --- Tokens

struct Shape {
  std::string_view prefix;
  size_t least;           // characters after the prefix
  bool is_mixed = false;  // needs digits, small and capital letters: the prefix alone is too common
};
constexpr std::array<Shape, 25> kShapes = {{
    {"hf_", 20},    {"ghp_", 20},        {"gho_", 20},      {"ghu_", 20},      {"ghs_", 20},
    {"ghr_", 20},   {"github_pat_", 20}, {"glpat-", 16},    {"sk-", 20, true}, {"sk_live_", 16},
    {"AKIA", 16},   {"ASIA", 16},        {"xoxb-", 10},     {"xoxp-", 10},     {"xoxa-", 10},
    {"xoxs-", 10},  {"AIza", 30},        {"ya29.", 20},     {"npm_", 30},      {"pypi-", 40},
    {"nvapi-", 20}, {"gsk_", 30},        {"dckr_pat_", 20}, {"eyJ", 30, true}, {"dapi", 32},
}};

bool is_token_character(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

bool is_mixed(std::string_view text) {
  const auto has = [&](int (*kind)(int)) {
    return std::any_of(text.begin(), text.end(),
                       [&](char c) { return kind(static_cast<unsigned char>(c)) != 0; });
  };
  return has(std::isdigit) && has(std::islower) && has(std::isupper);
}

bool is_token(std::string_view word) {
  return std::any_of(kShapes.begin(), kShapes.end(), [&](const Shape& shape) {
    if (!word.starts_with(shape.prefix)) return false;
    const std::string_view rest = word.substr(shape.prefix.size());
    return rest.size() >= shape.least && (!shape.is_mixed || is_mixed(rest));
  });
}

}  // namespace

std::string redact_urls(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\"' \t\r\n<>"), text.size());
    const std::string_view word = text.substr(0, end);
    const bool has_scheme = word.find("://") != std::string_view::npos;
    out += redact_webhook(has_scheme ? redact_urls_of_word(word) : redact_address(word));
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string redact_tokens(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() && is_token_character(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (is_token(word)) {
      out += kHidden;
    } else {
      out += word;
    }
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

}  // namespace trainscope
