#include "commands/values.h"

#include <array>
#include <string_view>

namespace trainscope::workload {
namespace {

constexpr double kMaxSeconds = 366.0 * 24 * 3600;

}  // namespace

std::optional<double> parse_duration_s(const std::string& text) {
  struct Unit {
    std::string_view suffix;
    double seconds;
  };
  constexpr std::array<Unit, 5> kUnits{
      {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"", 1.0}}};
  for (const Unit& unit : kUnits) {
    if (!std::string_view(text).ends_with(unit.suffix)) continue;
    const std::string_view number(text.data(), text.size() - unit.suffix.size());
    const std::optional<double> value = parse_number<double>(number);
    if (!value) return std::nullopt;
    const double seconds = *value * unit.seconds;
    if (!(seconds > 0.0) || seconds > kMaxSeconds) return std::nullopt;
    return seconds;
  }
  return std::nullopt;
}

std::optional<DeviceChoice> parse_device(const std::string& text) {
  constexpr int kMaxIndex = 127;  // libtorch keeps the index in a signed byte
  constexpr std::string_view kIndexed = "cuda:";
  if (text == "cpu") return DeviceChoice{};
  if (text == "cuda") return DeviceChoice{true, 0};
  if (!text.starts_with(kIndexed)) return std::nullopt;
  const std::optional<int> index =
      parse_number<int>(std::string_view(text).substr(kIndexed.size()));
  if (!index || *index < 0 || *index > kMaxIndex) return std::nullopt;
  return DeviceChoice{true, *index};
}

std::optional<InjectedDelay> parse_injected_delay(const std::string& text) {
  constexpr std::string_view kSlow = "slow:";
  constexpr std::string_view kStall = "stall:";
  if (text == "none") return InjectedDelay{};
  if (text.starts_with(kSlow)) {
    const std::optional<double> delay_s = parse_duration_s(text.substr(kSlow.size()));
    if (!delay_s) return std::nullopt;
    return InjectedDelay{1, *delay_s};
  }
  const std::size_t cross = text.find('x');
  if (!text.starts_with(kStall) || cross == std::string::npos) return std::nullopt;
  const std::string_view number =
      std::string_view(text).substr(kStall.size(), cross - kStall.size());
  const std::optional<std::uint64_t> every = parse_number<std::uint64_t>(number);
  const std::optional<double> delay_s = parse_duration_s(text.substr(cross + 1));
  if (!every || *every == 0 || !delay_s) return std::nullopt;
  return InjectedDelay{*every, *delay_s};
}

std::optional<std::vector<double>> parse_learning_rates(const std::string& text) {
  constexpr double kMax = 1e3;
  std::vector<double> rates;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::optional<double> rate = parse_number<double>(rest.substr(0, comma));
    if (!rate || !(*rate > 0.0) || *rate > kMax) return std::nullopt;
    rates.push_back(*rate);
    if (comma == std::string_view::npos) return rates;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace trainscope::workload
