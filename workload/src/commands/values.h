// The values that options take, read from their text.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options.h"

namespace trainscope::workload {

// The whole text as a number, or nothing.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "20", "20s", "500ms", "2m", "1.5h" in seconds; nothing where it is not a positive time.
std::optional<double> parse_duration_s(const std::string& text);

// "cpu", "cuda" or "cuda:N"; nothing where it is neither.
std::optional<DeviceChoice> parse_device(const std::string& text);

// "none", "slow:20ms" or "stall:7x200ms"; nothing where it is neither.
std::optional<InjectedDelay> parse_injected_delay(const std::string& text);

// "0.01" or "0.001,0.01,0.1": each above 0 and at most 1000; nothing where one is not.
std::optional<std::vector<double>> parse_learning_rates(const std::string& text);

}  // namespace trainscope::workload
