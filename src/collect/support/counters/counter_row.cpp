#include "collect/support/counters/counter_row.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "collect/collect.h"

namespace trainscope {

namespace {

using Number = CounterType::Number;

// The nth token between runs of the separator, as with strtok.
std::optional<std::string_view> column_of(std::string_view row, char separator, size_t column) {
  size_t at = 0;
  for (;;) {
    at = row.find_first_not_of(separator, at);
    if (at == std::string_view::npos) return std::nullopt;
    const size_t end = std::min(row.find(separator, at), row.size());
    if (column-- == 0) return row.substr(at, end - at);
    at = end;
  }
}

Extraction parse_whole(const char* text, const CounterType& type, uint64_t& bits) {
  char* end = nullptr;
  errno = 0;
  if (type.number == Number::integer) {
    bits = static_cast<uint64_t>(std::strtoll(text, &end, type.base));
  } else {
    bits = std::strtoull(text, &end, type.base);
  }
  if (end == text) return Extraction::not_a_number;
  if (errno == ERANGE) return Extraction::out_of_range;
  // Text that C parses as "0" followed by something: 089 is not an octal number, 0x not a
  // hexadecimal one.
  const bool cut = (*end >= '0' && *end <= '9') || (bits == 0 && (*end == 'x' || *end == 'X'));
  return cut ? Extraction::not_a_number : Extraction::found;
}

Extraction parse_real(const char* text, uint64_t& bits) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text, &end);
  if (end == text || std::isnan(value)) return Extraction::not_a_number;
  if (!std::isfinite(value)) return Extraction::out_of_range;
  bits = std::bit_cast<uint64_t>(value);
  return Extraction::found;
}

Extraction parse_text(std::string_view token, const CounterType& type, uint64_t& bits) {
  std::array<char, 64> text;
  if (token.size() >= text.size()) return Extraction::not_a_number;
  std::memcpy(text.data(), token.data(), token.size());
  text[token.size()] = '\0';
  return type.number == Number::real ? parse_real(text.data(), bits)
                                     : parse_whole(text.data(), type, bits);
}

// The row that the SPEC chooses, or null with the reason.
const std::string_view* find_row(const CounterSpec& spec, RowPattern* pattern,
                                 const CounterText& text, Extraction& failure) {
  failure = Extraction::no_row;
  if (spec.key.empty() && pattern == nullptr) {
    return spec.row < text.rows.size() ? &text.rows[spec.row] : nullptr;
  }
  for (const std::string_view& row : text.rows) {
    if (pattern == nullptr) {
      const auto first = column_of(row, spec.separator, 0);
      if (first && trim(*first) == spec.key) return &row;
      continue;
    }
    const RowPattern::Answer answer = pattern->find_in(row);
    if (answer == RowPattern::Answer::yes) return &row;
    if (answer == RowPattern::Answer::no) continue;
    failure = Extraction::too_costly;
    return nullptr;
  }
  return nullptr;
}

}  // namespace

void CounterText::assign(std::string_view content, bool newline_expected) {
  bytes = content;
  rows.clear();
  last_is_torn = false;
  while (!content.empty()) {
    const size_t newline = content.find('\n');
    rows.push_back(content.substr(0, newline));
    if (newline == std::string_view::npos) {
      last_is_torn = newline_expected;
      return;
    }
    content.remove_prefix(newline + 1);
  }
}

Extraction extract(const CounterSpec& spec, RowPattern* pattern, const CounterText& text,
                   uint64_t& bits) {
  Extraction failure = Extraction::no_row;
  const std::string_view* row = find_row(spec, pattern, text, failure);
  if (row == nullptr) return failure;
  std::string_view token;
  if (pattern != nullptr && pattern->has_group() && !spec.has_column) {
    token = pattern->group(*row);
    if (token.empty()) return Extraction::no_column;
  } else {
    const auto column = column_of(*row, spec.separator, spec.column);
    const bool torn = text.last_is_torn && row == &text.rows.back();
    if (!column) return torn ? Extraction::torn : Extraction::no_column;
    token = *column;
  }
  const bool at_end = token.data() + token.size() == row->data() + row->size();
  if (at_end && text.last_is_torn && row == &text.rows.back()) return Extraction::torn;
  return parse_text(token, spec.type, bits);
}

Extraction extract_binary(const CounterType& type, std::string_view bytes, uint64_t& bits) {
  const size_t size = type.binary_bytes;
  if (bytes.size() < size) return Extraction::no_row;
  uint64_t raw = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&raw, bytes.data(), size);
  } else {
    std::memcpy(reinterpret_cast<char*>(&raw) + sizeof raw - size, bytes.data(), size);
  }
  if (type.number == Number::real) {
    const double value = size == 4
                             ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(raw)))
                             : std::bit_cast<double>(raw);
    if (!std::isfinite(value)) return Extraction::not_a_number;
    bits = std::bit_cast<uint64_t>(value);
    return Extraction::found;
  }
  const size_t unused = 64 - 8 * size;
  // Shifted up and down again, the sign comes along.
  bits = type.number == Number::integer
             ? static_cast<uint64_t>(static_cast<int64_t>(raw << unused) >> unused)
             : raw;
  return Extraction::found;
}

int64_t stored_value(const CounterType& type, uint64_t bits, uint64_t first) {
  if (type.number == Number::real) {
    const double value = std::bit_cast<double>(bits) - std::bit_cast<double>(first);
    // The bits of -0 are those of kAbsent.
    return std::isfinite(value) ? std::bit_cast<int64_t>(value == 0 ? 0.0 : value) : kAbsent;
  }
  if (type.number == Number::natural) {
    const bool grown = bits >= first;
    const uint64_t size = grown ? bits - first : first - bits;
    if (size > static_cast<uint64_t>(INT64_MAX)) return kAbsent;
    return grown ? static_cast<int64_t>(size) : -static_cast<int64_t>(size);
  }
  int64_t difference = 0;
  const bool overflow =
      __builtin_sub_overflow(static_cast<int64_t>(bits), static_cast<int64_t>(first), &difference);
  return overflow ? kAbsent : difference;
}

std::string extraction_error_text(const CounterSpec& spec, Extraction extraction) {
  switch (extraction) {
    case Extraction::found:
      return "";
    case Extraction::no_row:
      if (spec.type.binary_bytes > 0)
        return fmt::format("the file ends before byte {}", spec.offset);
      if (!spec.key.empty()) return fmt::format("no row begins with '{}'", printable(spec.key));
      if (!spec.match.empty()) return fmt::format("no row matches {}", printable(spec.match));
      return fmt::format("row {} does not exist (the first is 0)", spec.row);
    case Extraction::no_column:
      return fmt::format("the row has no column {} (the first is 0)", spec.column);
    case Extraction::not_a_number:
      return fmt::format("the value is not of type {}", spec.type.name);
    case Extraction::out_of_range:
      return "the number does not fit into 64 bits";
    case Extraction::torn:
      return "the file ends in the middle of the row";
    case Extraction::too_costly:
      return "the pattern takes too many steps";
  }
  return "";
}

}  // namespace trainscope
