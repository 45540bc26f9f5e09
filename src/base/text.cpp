#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/utf8.h"

namespace trainscope {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> fields(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t at = 0;
  while (at < text.size()) {
    const size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return parts;
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

namespace {

struct Unit {
  std::string_view name;
  double seconds;
};

constexpr std::array<Unit, 18> kTimes = {{{"ns", 1e-9},
                                          {"us", 1e-6},
                                          {"µs", 1e-6},
                                          {"ms", 1e-3},
                                          {"s", 1},
                                          {"sec", 1},
                                          {"second", 1},
                                          {"seconds", 1},
                                          {"m", 60},
                                          {"min", 60},
                                          {"minute", 60},
                                          {"minutes", 60},
                                          {"h", 3600},
                                          {"hour", 3600},
                                          {"hours", 3600},
                                          {"d", 86400},
                                          {"day", 86400},
                                          {"days", 86400}}};

std::optional<double> seconds_of_unit(std::string_view name) {
  for (const Unit& unit : kTimes) {
    if (unit.name == name) return unit.seconds;
  }
  return std::nullopt;
}

// Takes a leading number off the text; no sign, no exponent: people do not write those here.
std::optional<double> take_number(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto value = parse_number(text.substr(0, end));
  if (value) text.remove_prefix(end);
  return value;
}

std::string_view take_word(std::string_view& text) {
  const size_t end = std::min(text.find_first_of("0123456789. \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

Error not_a_duration(std::string_view given, const char* why) {
  return Error(fmt::format("'{}' is not a duration: {} (write 100ms, 75m, 1h30m)", given, why));
}

}  // namespace

Result<int64_t> parse_duration(std::string_view given) {
  TS_TRY(const int64_t ns, parse_duration_or_zero(given));
  if (ns == 0) return not_a_duration(given, "it must be more than 0");
  return ns;
}

Result<int64_t> parse_period(std::string_view given) {
  TS_TRY(const int64_t ns, parse_duration(given));
  const bool has_unit = trim(given).find_first_not_of("0123456789.") != std::string_view::npos;
  if (!has_unit) return not_a_duration(given, "a unit is missing");
  return ns;
}

Result<int64_t> parse_duration_or_zero(std::string_view given) {
  const std::string text = lower(trim(given));
  const auto bad = [&](const char* why) { return not_a_duration(given, why); };
  std::string_view rest = text;
  if (rest.empty()) return bad("it is empty");
  double seconds = 0;
  bool has_part = false;
  while (!rest.empty()) {
    const auto number = take_number(rest);
    if (!number) return bad("a number is expected");
    rest = trim(rest);
    const std::string_view word = take_word(rest);
    rest = trim(rest);
    if (word.empty() && (has_part || !rest.empty())) return bad("a unit is missing");
    const auto factor = word.empty() ? std::optional<double>(1) : seconds_of_unit(word);
    if (!factor) return bad("unknown unit");
    seconds += *number * *factor;
    has_part = true;
  }
  if (seconds > 10.0 * 365 * 86400) return bad("it is longer than ten years");
  return std::llround(seconds * 1e9);
}

std::string number_text(double value) {
  const double size = std::abs(value);
  if (size < 5e-7) return "0";
  if (size < 1e-4) return fmt::format("{:.6f}", value);
  if (size < 999.5) return fmt::format("{:.3g}", value);
  return fmt::format("{:.0f}", value);
}

// A unit ends where its rounded text would reach the next one: 999.5 µs are 1 ms, not 1000 µs.
std::string duration_text(double seconds) {
  if (seconds < 0) return "-" + duration_text(-seconds);
  if (seconds * 1e6 < 999.5) return fmt::format("{:.0f} µs", seconds * 1e6);
  if (seconds * 1e3 < 999.5) return number_text(seconds * 1e3) + " ms";
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 3600) {
    return whole % 60 == 0 ? fmt::format("{} min", whole / 60)
                           : fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  if (whole < 86400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {} h", whole / 86400, whole % 86400 / 3600);
}

std::string counted(int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1023.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  const double size = std::abs(bytes);
  const int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, kUnits[unit]);
}

std::string count_text(double value) {
  static constexpr std::array<const char*, 5> kUnits = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  double limit = 9999.5;  // 5850, not 5.85k
  while (std::abs(value) >= limit && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
    limit = 999.5;
  }
  return number_text(value) + kUnits[unit];
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const char32_t c = take_code_point(text);
    const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
                      (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                      (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                      (c >= 0x1F300 && c <= 0x1FAFF);
    const bool combining =
        (c >= 0x300 && c <= 0x36F) || c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F);
    width += combining ? 0 : wide ? 2 : 1;
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = take_code_point(text);
    const bool obeyed = c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0) ||
                        c == kReplacementCharacter || (c >= 0x202A && c <= 0x202E) ||
                        (c >= 0x2066 && c <= 0x2069);
    if (obeyed) {
      out += c == '\t' ? " " : c == '\n' ? "⏎" : "?";
    } else {
      out += before.substr(0, before.size() - text.size());
    }
  }
  return out;
}

void append_csv_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string command_text(const std::vector<std::string>& command) {
  constexpr std::string_view kPlainLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    const bool plain = !word.empty() && word.find_first_not_of(kPlainLetters) == std::string::npos;
    if (plain) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return printable(text);
}

}  // namespace trainscope
