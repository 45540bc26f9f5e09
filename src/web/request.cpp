#include "web/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace trainscope {

namespace {

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_path_character(char c) {
  return is_letter_or_digit(c) || c == '/' || c == '-' || c == '_' || c == '.';
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// Nothing if it is malformed or has a control character.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i] == '+' ? ' ' : text[i];
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (!high || !low) return std::nullopt;
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return std::nullopt;
    out += c;
  }
  return out;
}

Status add_parameter(std::string_view text, WebTarget& target) {
  const size_t equals = text.find('=');
  const auto name = decoded(text.substr(0, equals));
  const auto value = decoded(equals == text.npos ? std::string_view() : text.substr(equals + 1));
  if (!name || !value || name->empty()) return Error("the query is malformed");
  if (target.query.size() == kMostParameters) return Error("the query has too many parameters");
  if (!target.query.emplace(*name, *value).second) {
    return Error("the query has a parameter twice");
  }
  return {};
}

}  // namespace

const std::string* WebTarget::find(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? nullptr : &found->second;
}

Result<WebTarget> parse_target(std::string_view target) {
  if (target.size() > kMostTargetBytes) return Error("the target is too long");
  if (target.empty() || target[0] != '/') return Error("the target is not a path");
  const size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  if (!std::all_of(path.begin(), path.end(), is_path_character) || path.find("..") != path.npos ||
      path.find("//") != path.npos) {
    return Error("there is no such page", ENOENT);
  }
  WebTarget parsed;
  parsed.path = path;
  if (question == target.npos) return parsed;
  std::string_view query = target.substr(question + 1);
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    if (end > 0) TS_CHECK_OK(add_parameter(query.substr(0, end), parsed));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return parsed;
}

std::optional<double> parse_query_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<size_t> parse_query_count(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<std::vector<size_t>> parse_query_counts(std::string_view text, size_t most) {
  std::vector<size_t> all;
  for (const std::string_view part : split(text, ',')) {
    const auto number = parse_query_count(part);
    if (!number) return Error(fmt::format("'{}' is not a number from 0 on", part));
    if (all.size() == most) return Error(fmt::format("more than {} numbers", most));
    all.push_back(*number);
  }
  return all;
}

bool is_run_id_text(std::string_view text) {
  constexpr size_t kMostIdBytes = 64;
  return !text.empty() && text.size() <= kMostIdBytes &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
}

Result<std::vector<std::string>> parse_run_ids(std::string_view text, size_t most) {
  std::vector<std::string> ids;
  for (const std::string_view part : split(text, ',')) {
    if (!is_run_id_text(part)) return Error("a run is not named by its id");
    if (ids.size() == most) return Error(fmt::format("more than {} runs", most));
    ids.emplace_back(part);
  }
  return ids;
}

}  // namespace trainscope
