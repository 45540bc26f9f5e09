#include "cli/table.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr std::string_view kGap = "  ";

std::string padded(const std::string& text, size_t width, bool right) {
  const size_t have = display_width(text);
  const std::string spaces(have < width ? width - have : 0, ' ');
  return right ? spaces + text : text + spaces;
}

// 2.4 GHz, 750 kHz
std::string si_text(double value, const char* unit) {
  static constexpr std::array<const char*, 5> kPrefixes = {"", "k", "M", "G", "T"};
  size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", number_text(value), kPrefixes[prefix], unit);
}

bool is_annotation(std::string_view unit) { return unit.starts_with('{') && unit.ends_with('}'); }

}  // namespace

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {
  for (std::string& heading : headings_) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(headings_.size());
  for (std::string& cell : cells) cell = printable(cell);  // a cell is one line, whatever its text
  rows_.push_back(std::move(cells));
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                        size_t room) const {
  std::string out;
  size_t used = 0;
  for (size_t c = 0; c < cells.size(); ++c) {
    const bool last = c + 1 == cells.size();
    std::string cell = cells[c];
    if (last && room > 0) cell = shortened(cell, room > used ? room - used : 1);
    out += last && !right_[c] ? cell : padded(cell, widths[c], right_[c]);
    used += widths[c] + kGap.size();
    if (!last) out += kGap;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < headings_.size(); ++c) {
    size_t widest = display_width(headings_[c]);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[c]));
    widths.push_back(widest);
  }
  return widths;
}

size_t Table::width_before_last() const {
  size_t used = 0;
  const std::vector<size_t> all = widths();
  for (size_t c = 0; c + 1 < all.size(); ++c) used += all[c] + kGap.size();
  return used;
}

std::string Table::text(bool colour, size_t width, std::string_view indent) const {
  const std::vector<size_t> widths = this->widths();
  const size_t room = width > indent.size() ? width - indent.size() : 0;
  std::string out(indent);
  const std::string head = line(headings_, widths, room);
  out += colour ? kDim + head + kPlain : head;
  out += '\n';
  for (const auto& row : rows_) out += std::string(indent) + line(row, widths, room) + '\n';
  return out;
}

std::string percent_text(double ratio) {
  const double percent = ratio * 100;
  if (percent != 0 && std::abs(percent) < 0.1) return fmt::format("{:.2f}%", percent);
  if (percent != 0 && std::abs(percent) < 9.95) return fmt::format("{:.1f}%", percent);
  return fmt::format("{:.0f}%", percent);
}

std::string value_text(double value, std::string_view unit) {
  if (unit == "1") return percent_text(value);
  if (unit == "By") return bytes_text(value);
  if (unit == "s") return value == 0 ? "0 s" : duration_text(value);
  if (unit == "Hz") return si_text(value, "Hz");
  if (unit == "Cel") return fmt::format("{:.1f} °C", value);
  if (unit == "W" || unit == "J") return si_text(value, unit == "W" ? "W" : "J");
  if (unit.ends_with("/s")) {
    const std::string_view thing = unit.substr(0, unit.size() - 2);
    return rate_text(value, thing == "1" ? std::string_view() : thing);
  }
  if (unit.empty() || is_annotation(unit)) return count_text(value);
  return count_text(value) + " " + std::string(unit);
}

std::string rate_text(double rate, std::string_view unit) {
  if (unit == "s") return number_text(rate) + " s/s";
  if (unit == "J") return si_text(rate, "W");
  if (unit == "By" && rate < 10) return number_text(rate) + " B/s";
  if (unit != "By" && rate < 10) return number_text(rate) + "/s";
  return value_text(rate, unit) + "/s";
}

std::string shortened(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  while (!text.empty()) {
    size_t length = 1;  // of the next code point
    while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
      ++length;
    }
    const std::string_view next = text.substr(0, length);
    if (display_width(out) + display_width(next) + 1 > width) break;
    out += next;
    text.remove_prefix(length);
  }
  return out + "…";
}

size_t terminal_width(int fd) {
  winsize size{};
  if (::isatty(fd) != 1 || ::ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col == 0 ? 80 : size.ws_col;
}

size_t terminal_height(int fd) {
  winsize size{};
  if (::isatty(fd) != 1 || ::ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_row == 0 ? 24 : size.ws_row;
}

std::string local_time_text(const std::string& utc, bool has_seconds) {
  const int64_t ns = utc_from_text(utc);
  if (ns < 0) return "";
  const auto seconds = static_cast<time_t>(ns / kNsPerSecond);
  tm parts{};
  localtime_r(&seconds, &parts);
  const std::string text =
      fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                  parts.tm_mday, parts.tm_hour, parts.tm_min);
  return has_seconds ? fmt::format("{}:{:02}", text, parts.tm_sec) : text;
}

std::string outcome_text(const Manifest& manifest, RunStatus status) {
  if (status == RunStatus::damaged) return "damaged";
  if (status == RunStatus::running) return "running";
  switch (manifest.ended_by) {
    case EndedBy::exit:
      return manifest.exit_code ? fmt::format("{}", *manifest.exit_code) : "unknown";
    case EndedBy::signal: {
      const char* name = sigabbrev_np(manifest.signal.value_or(0));
      return name == nullptr ? fmt::format("signal {}", manifest.signal.value_or(0))
                             : fmt::format("SIG{}", name);
    }
    case EndedBy::time_limit:
      return "time limit";
    case EndedBy::not_started:
      return "not started";
    case EndedBy::detached:
      return "detached";
    default:
      return "unknown";
  }
}

}  // namespace trainscope
