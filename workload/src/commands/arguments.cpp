#include "commands/arguments.h"

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "commands/manual.h"

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

// One of a few words.
template <typename Target, std::size_t kCount>
void add_choice(CLI::App& app, const std::string& flag, Target& target,
                const std::array<std::pair<std::string_view, Target>, kCount>& choices,
                const std::string& names, const std::string& fallback) {
  const auto parse = [choices](const std::string& text) -> std::optional<Target> {
    for (const auto& [name, value] : choices) {
      if (name == text) return value;
    }
    return std::nullopt;
  };
  add_parsed(app, flag, target, parse, names, names + " (default: " + fallback + ")");
}

constexpr std::array<std::pair<std::string_view, OptimizerKind>, 2> kOptimizers{
    {{"adam", OptimizerKind::kAdam}, {"sgd", OptimizerKind::kSgd}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kLayouts{
    {{"nchw", false}, {"nhwc", true}}};
constexpr std::array<std::pair<std::string_view, Precision>, 3> kPrecisions{
    {{"fp32", Precision::kFloat32}, {"bf16", Precision::kBfloat16}, {"fp16", Precision::kFloat16}}};

template <typename Options>
void add_device_options(CLI::App& app, Options& options) {
  add_parsed(app, "--device", options.device, parse_device, "cpu, cuda or cuda:N",
             "cpu, cuda or cuda:N; the CPU is used if the device is missing (default: cpu)");
  app.add_flag("--strict", options.strict, "fail instead of falling back");
}

std::string describe(std::span<const ModelName> models) {
  std::string text = "model to train:";
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
             "stop after this time: 20, 20s, 2m (default: 20 s if no limit is given)");
  add_number<std::uint64_t>(train, "--steps", options.steps, 1, kMax, "stop after N steps");
  add_number<std::uint64_t>(train, "--epochs", options.epochs, 1, kMax,
                            "stop after N passes over the training images");
  add_number<std::uint64_t>(train, "--batch", options.batch, 1, 1U << 16,
                            "images per step (default: 64)");
  add_choice(train, "--optimizer", options.optimizer, kOptimizers, "adam or sgd", "adam");
  add_number<double>(train, "--lr", options.learning_rate, 1e-12, 1e3,
                     "learning rate (default: 0.001)");
  add_number<std::uint64_t>(train, "--seed", options.seed, 0, kMax,
                            "seed of weights, order and generated digits (default: 1)");
  add_number<int>(train, "--threads", options.threads, 1, 1024,
                  "CPU threads (default: libtorch's)");
  add_number<int>(train, "--inter-threads", options.inter_threads, 1, 1024,
                  "CPU threads between operations (default: libtorch's)");
  add_number<std::uint64_t>(train, "--every", options.every, 1, kMax,
                            "print a line every N steps (default: 100)");
  train.add_option(
      "--data", options.data,
      "auto, fashion_mnist, drawn, synthetic, or a folder: MNIST's four files, CIFAR-10 "
      "binary files, TFRecords, or one folder of images per class (default: auto)");
  add_device_options(train, options);
  train.add_flag("--log-placement", options.log_placement,
                 "print device, type, layout and shape of the input and each weight");
  train.add_option("--summaries", options.summaries,
                   "write loss and accuracy for TensorBoard to this folder");
  train.add_option("--step-log", options.step_log,
                   "write 'step begin_s duration_s' (CLOCK_MONOTONIC) per step to this file");
}

void add_input_options(CLI::App& train, TrainOptions& options) {
  add_number<std::uint32_t>(
      train, "--size", options.side, 1, 4096,
      "side of encoded and synthetic images in pixels (default: the model's)");
  add_number<unsigned>(train, "--loaders", options.loaders, 0, 256,
                       "threads that load images ahead (default: depends on the data)");
  add_number<std::uint64_t>(train, "--prefetch", options.prefetch, 1, 1024,
                            "batches loaded ahead (default: 4)");
  add_parsed(
      train, "--input", options.input, parse_injected_delay, "none, slow:TIME or stall:NxTIME",
      "inject a delay: slow:20ms in every step, stall:7x200ms in every seventh (default: none)");
  train.add_flag("--resident", options.resident,
                 "use one batch, kept on the device, for every step: measures compute alone");
}

void add_compute_options(CLI::App& train, TrainOptions& options) {
  add_choice(train, "--layout", options.channels_last, kLayouts, "nchw or nhwc", "nchw");
  add_choice(train, "--precision", options.precision, kPrecisions, "fp32, bf16 or fp16", "fp32");
  train.add_flag("--graph", options.graph,
                 "record a step once and replay it (CUDA graphs): faster for small batches");
  train.add_option("--weights", options.weights, "start from these weights (safetensors)");
  train.add_option("--export", options.export_file,
                   "write the trained network to this file: NAME.pt as TorchScript, any other name "
                   "its weights as safetensors");
  CLI::Option* checkpoint =
      train.add_option("--checkpoint", options.checkpoint, "save the training state to this file");
  add_parsed(train, "--checkpoints", options.checkpoints_s, parse_duration_s, "a time (20s, 2m)",
             "time between checkpoints (default: 60s)")
      ->needs(checkpoint);
  train.add_flag("--resume", options.resume, "continue from --checkpoint")->needs(checkpoint);
  add_parsed(train, "--evaluations", options.evaluations_s, parse_duration_s, "a time (20s, 2m)",
             "also evaluate every T (default: only after each epoch and at the end)");
}

void add_label_options(CLI::App& label, LabelOptions& options) {
  label.add_option("IMAGE", options.image, "JPEG or PNG image")->required();
  label.add_option("--weights", options.weights, "safetensors file")->required();
  label.add_option("--model", options.model, "model (default: the one that the weights name)");
  add_device_options(label, options);
  add_number<int>(label, "--threads", options.threads, 1, 1024, "CPU threads");
  add_number<std::uint64_t>(label, "--top", options.top, 1, 1000, "number of names (default: 5)");
  add_number<std::uint64_t>(label, "--repeat", options.repeat, 1, 100000,
                            "timed warm calls (default: 10)");
}

void add_transfer_options(CLI::App& transfer, TransferOptions& options) {
  transfer.add_option("FOLDER", options.folder, "one folder of images per class")->required();
  transfer.add_option("--weights", options.weights, "weights of the trunk (safetensors)")
      ->required();
  transfer.add_option("--model", options.model, "model (default: the one that the weights name)");
  transfer.add_option("--cache", options.cache, "folder that stores the bottleneck vectors");
  add_device_options(transfer, options);
  add_number<int>(transfer, "--threads", options.threads, 1, 1024, "CPU threads");
  add_number<std::uint64_t>(transfer, "--batch", options.batch, 1, 1U << 16,
                            "images per step (default: 100)");
  add_number<std::uint64_t>(transfer, "--steps", options.steps, 1, 1U << 30,
                            "number of steps per learning rate (default: 4000)");
  add_parsed(transfer, "--lr", options.learning_rates, parse_learning_rates, "rates (0.01,0.1)",
             "learning rate, or several to try: 0.001,0.01,0.1 (default: 0.01)");
  add_number<double>(transfer, "--validation", options.validation_percent, 0, 90,
                     "percentage of the images used to choose the rate (default: 10)");
  add_number<double>(transfer, "--test", options.test_percent, 0, 90,
                     "percentage of the images held out (default: 10)");
  add_number<std::uint64_t>(transfer, "--every", options.evaluate_every, 1, 1U << 30,
                            "evaluate and print a line every N steps (default: 10)");
  add_number<std::uint64_t>(transfer, "--seed", options.seed, 0, 1U << 30, "seed (default: 1)");
  transfer.add_option(
      "--summaries", options.summaries,
      "write loss and accuracy for TensorBoard to this folder, one folder per rate");
  transfer.add_flag("--misclassified", options.misclassified, "list misclassified test images");
  transfer.add_option("--export", options.export_file, "write the whole network (safetensors)");
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

ParsedArguments parse_arguments(int argc, const char* const* argv,
                                std::span<const ModelName> models) {
  TrainOptions options;
  LabelOptions label_options;
  TransferOptions transfer_options;
  CLI::App app("Train models in C++ on libtorch: a job to record and measure.",
               "trainscope-workload");
  app.require_subcommand(1);
  add_manual_option(app);
  CLI::App* train = app.add_subcommand("train", "train a model and evaluate it on held-out images");
  add_train_options(*train, options, models);
  add_input_options(*train, options);
  add_compute_options(*train, options);
  CLI::App* label = app.add_subcommand("label", "name what is in an image");
  add_label_options(*label, label_options);
  CLI::App* transfer =
      app.add_subcommand("transfer", "train a new last layer on a folder of images");
  add_transfer_options(*transfer, transfer_options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const bool help = app.exit(error, out, err) == 0;
    ParsedArguments stopped;
    stopped.message = help ? out.str() : err.str();
    stopped.exit_code = help ? 0 : 2;
    return stopped;
  }
  ParsedArguments parsed;
  if (*label) parsed.label = label_options;
  if (*transfer) parsed.transfer = transfer_options;
  if (!*train) return parsed;
  if (!options.seconds && !options.steps && !options.epochs) options.seconds = kDefaultSeconds;
  parsed.train = options;
  return parsed;
}

}  // namespace trainscope::workload
