#include "arguments.h"

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

namespace trainscope::workload {
namespace {

constexpr double kDefaultSeconds = 20.0;
constexpr double kMaxSeconds = 366.0 * 24 * 3600;

// The whole text as a number, or nothing.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// An option whose text must be parsed: CLI11 reports the sentence where `parse` gives nothing.
template <typename Target, typename Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& flag, Target& target, Parse parse,
                        const std::string& expected, const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag,
          [&target, parse, expected, flag](const std::string& text) {
            const auto value = parse(text);
            if (!value) throw CLI::ValidationError(flag, "'" + text + "' is not " + expected);
            target = *value;
          },
          help)
      ->type_name("");
}

// CLI11 alone takes "-1" for an unsigned number and "1e400" for infinity.
template <typename Number, typename Target>
void add_number(CLI::App& app, const std::string& flag, Target& target, Number low, Number high,
                const std::string& help) {
  std::ostringstream expected;
  expected << "a number from " << low << " to " << high;
  const auto parse = [low, high](const std::string& text) -> std::optional<Number> {
    const std::optional<Number> value = parse_number<Number>(text);
    return value && *value >= low && *value <= high ? value : std::nullopt;
  };
  add_parsed(app, flag, target, parse, expected.str(), help);
}

std::string describe(std::span<const ModelName> models) {
  std::string text = "what to train:";
  for (const ModelName& model : models) {
    text += std::string(" ") + std::string(model.name) + " (" + std::string(model.summary) + ")";
  }
  return text;
}

void add_train_options(CLI::App& train, TrainOptions& options, std::span<const ModelName> models) {
  const auto known = [models](const std::string& text) -> std::optional<std::string> {
    for (const ModelName& model : models) {
      if (model.name == text) return text;
    }
    return std::nullopt;
  };
  constexpr auto kMax = std::uint64_t{1} << 53;
  add_parsed(train, "--model", options.model, known, "a model (see --help)", describe(models));
  add_parsed(train, "--seconds", options.seconds, parse_duration_s, "a time (20, 20s, 500ms, 2m)",
             "stop after this time, e.g. 20, 20s, 2m (default: 20 s where no limit is given)");
  add_number<std::uint64_t>(train, "--steps", options.steps, 1, kMax, "stop after N steps");
  add_number<std::uint64_t>(train, "--epochs", options.epochs, 1, kMax,
                            "stop after N passes over the training pictures");
  add_number<std::uint64_t>(train, "--batch", options.batch, 1, 1U << 16, "pictures a step [64]");
  add_number<double>(train, "--lr", options.learning_rate, 1e-12, 1e3, "learning rate [0.001]");
  add_number<std::uint64_t>(train, "--seed", options.seed, 0, kMax,
                            "of the weights, the order and the drawn digits [1]");
  add_number<int>(train, "--threads", options.threads, 1, 1024, "CPU threads [libtorch's default]");
  add_number<std::uint64_t>(train, "--every", options.every, 1, kMax,
                            "print a line each N steps [100]");
  train.add_option("--data", options.data,
                   "auto, fashion_mnist, drawn, or a folder with MNIST's four files [auto]");
  add_parsed(train, "--device", options.device, parse_device, "cpu, cuda or cuda:N",
             "cpu, cuda or cuda:N [cpu]; where there is no such device the CPU is used");
  train.add_flag("--strict", options.strict, "fail where --device is not there");
  train.add_option("--step-log", options.step_log,
                   "write 'step begin_s duration_s' (CLOCK_MONOTONIC) for each step to this file");
}

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

ParsedArguments parse_arguments(int argc, const char* const* argv,
                                std::span<const ModelName> models) {
  TrainOptions options;
  CLI::App app("Real training in C++ on libtorch, to be recorded and measured.",
               "trainscope-workload");
  app.require_subcommand(1);
  CLI::App* train = app.add_subcommand("train", "train a model and test it on held-out pictures");
  add_train_options(*train, options, models);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const bool help = app.exit(error, out, err) == 0;
    return {std::nullopt, help ? out.str() : err.str(), help ? 0 : 2};
  }
  if (!options.seconds && !options.steps && !options.epochs) options.seconds = kDefaultSeconds;
  return {options, "", 0};
}

}  // namespace trainscope::workload
