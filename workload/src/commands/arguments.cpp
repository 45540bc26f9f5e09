#include "commands/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "base/suggest.h"
#include "commands/help.h"
#include "commands/manual.h"
#include "commands/values.h"
#include "version.h"

namespace trainscope::workload {
namespace {

constexpr double kDefaultSeconds = 20.0;

// An option whose text must be parsed: CLI11 reports the sentence where `parse` gives nothing.
template <typename Target, typename Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& flag, const std::string& value_name,
                        Target& target, Parse parse, const std::string& expected,
                        const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag,
          [&target, parse, expected, flag](const std::string& text) {
            const auto value = parse(text);
            if (!value) throw CLI::ValidationError(flag, "'" + text + "' is not " + expected);
            target = *value;
          },
          help)
      ->type_name(value_name);
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
  add_parsed(app, flag, "N", target, parse, expected.str(), help);
}

// One of a few words.
template <typename Target, std::size_t kCount>
void add_choice(CLI::App& app, const std::string& flag, Target& target,
                const std::array<std::pair<std::string_view, Target>, kCount>& choices,
                const std::string& names, const std::string& help) {
  const auto parse = [choices](const std::string& text) -> std::optional<Target> {
    for (const auto& [name, value] : choices) {
      if (name == text) return value;
    }
    return std::nullopt;
  };
  std::string value_name;
  for (const auto& [name, value] : choices) {
    value_name += (value_name.empty() ? "" : "|") + std::string(name);
  }
  add_parsed(app, flag, value_name, target, parse, names, help);
}

constexpr std::array<std::pair<std::string_view, OptimizerKind>, 2> kOptimizers{
    {{"adam", OptimizerKind::kAdam}, {"sgd", OptimizerKind::kSgd}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kLayouts{
    {{"nchw", false}, {"nhwc", true}}};
constexpr std::array<std::pair<std::string_view, Precision>, 3> kPrecisions{
    {{"fp32", Precision::kFloat32}, {"bf16", Precision::kBfloat16}, {"fp16", Precision::kFloat16}}};

template <typename Options>
void add_device_options(CLI::App& app, Options& options) {
  add_parsed(app, "--device", "DEVICE", options.device, parse_device, "cpu, cuda or cuda:N",
             "cpu, cuda or cuda:N; the CPU is used if the device is missing (default: cpu)");
  app.add_flag("--strict", options.strict, "fail instead of falling back");
}

std::vector<HelpRow> describe(std::span<const ModelName> models) {
  std::vector<HelpRow> rows;
  for (const ModelName& model : models) {
    rows.push_back({std::string(model.name), std::string(model.summary)});
  }
  return rows;
}

// An option whose value is a text.
CLI::Option* add_text(CLI::App& app, const std::string& flag, const std::string& value_name,
                      std::string& target, const std::string& help) {
  return app.add_option(flag, target, help)->type_name(value_name);
}

void add_train_options(CLI::App& train, TrainOptions& options, std::span<const ModelName> models) {
  const auto known = [models](const std::string& text) -> std::optional<std::string> {
    for (const ModelName& model : models) {
      if (model.name == text) return text;
    }
    return std::nullopt;
  };
  constexpr auto kMax = std::uint64_t{1} << 53;
  add_parsed(train, "--model", "NAME", options.model, known, "a model (see --help)",
             "model to train, one of those below (default: digits_cnn)");
  add_parsed(train, "--seconds", "DURATION", options.seconds, parse_duration_s,
             "a time (20, 20s, 500ms, 2m)",
             "stop after this time: 20, 20s, 2m (default: 20 s if no limit is given)");
  add_number<std::uint64_t>(train, "--steps", options.steps, 1, kMax, "stop after N steps");
  add_number<std::uint64_t>(train, "--epochs", options.epochs, 1, kMax,
                            "stop after N passes over the training images");
  add_number<std::uint64_t>(train, "--batch", options.batch, 1, 1U << 16,
                            "images per step (default: 64)");
  add_choice(train, "--optimizer", options.optimizer, kOptimizers, "adam or sgd",
             "optimizer (default: adam)");
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
  add_text(train, "--data", "DATA", options.data,
           "auto, fashion_mnist, drawn, synthetic, or a folder: MNIST's four files, CIFAR-10 "
           "binary files, TFRecords, or one folder of images per class (default: auto)");
  add_device_options(train, options);
  train.add_flag("--log-placement", options.log_placement,
                 "print device, type, layout and shape of the input and each weight");
  add_text(train, "--summaries", "DIR", options.summaries,
           "write loss and accuracy for TensorBoard to this folder");
  add_text(train, "--step-log", "FILE", options.step_log,
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
      train, "--input", "DELAY", options.input, parse_injected_delay,
      "none, slow:TIME or stall:NxTIME",
      "inject a delay: slow:20ms in every step, stall:7x200ms in every seventh (default: none)");
  train.add_flag("--resident", options.resident,
                 "use one batch, kept on the device, for every step: measures compute alone");
}

void add_compute_options(CLI::App& train, TrainOptions& options) {
  add_choice(train, "--layout", options.channels_last, kLayouts, "nchw or nhwc",
             "order of the dimensions (default: nchw)");
  add_choice(train, "--precision", options.precision, kPrecisions, "fp32, bf16 or fp16",
             "type of the numbers (default: fp32)");
  train.add_flag("--graph", options.graph,
                 "record a step once and replay it (CUDA graphs): faster for small batches");
  add_text(train, "--weights", "FILE", options.weights, "start from these weights (safetensors)");
  add_text(train, "--export", "FILE", options.export_file,
           "write the trained network to this file: NAME.pt as TorchScript, any other name its "
           "weights as safetensors");
  CLI::Option* checkpoint = add_text(train, "--checkpoint", "FILE", options.checkpoint,
                                     "save the training state to this file");
  add_parsed(train, "--checkpoints", "DURATION", options.checkpoints_s, parse_duration_s,
             "a time (20s, 2m)", "time between checkpoints (default: 60s)")
      ->needs(checkpoint);
  train.add_flag("--resume", options.resume, "continue from --checkpoint")->needs(checkpoint);
  add_parsed(train, "--evaluations", "DURATION", options.evaluations_s, parse_duration_s,
             "a time (20s, 2m)",
             "also evaluate every T (default: only after each epoch and at the end)");
}

void add_label_options(CLI::App& label, LabelOptions& options) {
  label.add_option("IMAGE", options.image, "JPEG or PNG image")->required();
  add_text(label, "--weights", "FILE", options.weights,
           "trained network: safetensors, or the NAME.pt that --export writes")
      ->required();
  add_text(label, "--model", "NAME", options.model,
           "model (default: the one that the weights name)");
  add_device_options(label, options);
  add_number<int>(label, "--threads", options.threads, 1, 1024, "CPU threads");
  add_number<std::uint64_t>(label, "--top", options.top, 1, 1000, "number of names (default: 5)");
  add_number<std::uint64_t>(label, "--repeat", options.repeat, 1, 100000,
                            "timed warm calls (default: 10)");
}

void add_transfer_options(CLI::App& transfer, TransferOptions& options) {
  transfer.add_option("FOLDER", options.folder, "one folder of images per class")->required();
  add_text(transfer, "--weights", "FILE", options.weights,
           "weights of the trunk: safetensors, or the NAME.pt that --export writes")
      ->required();
  add_text(transfer, "--model", "NAME", options.model,
           "model (default: the one that the weights name)");
  add_text(transfer, "--cache", "DIR", options.cache, "folder that stores the bottleneck vectors");
  add_device_options(transfer, options);
  add_number<int>(transfer, "--threads", options.threads, 1, 1024, "CPU threads");
  add_number<std::uint64_t>(transfer, "--batch", options.batch, 1, 1U << 16,
                            "images per step (default: 100)");
  add_number<std::uint64_t>(transfer, "--steps", options.steps, 1, 1U << 30,
                            "number of steps per learning rate (default: 4000)");
  add_parsed(transfer, "--lr", "RATES", options.learning_rates, parse_learning_rates,
             "rates (0.01,0.1)",
             "learning rate, or several to try: 0.001,0.01,0.1 (default: 0.01)");
  add_number<double>(transfer, "--validation", options.validation_percent, 0, 90,
                     "percentage of the images used to choose the rate (default: 10)");
  add_number<double>(transfer, "--test", options.test_percent, 0, 90,
                     "percentage of the images held out (default: 10)");
  add_number<std::uint64_t>(transfer, "--every", options.evaluate_every, 1, 1U << 30,
                            "evaluate and print a line every N steps (default: 10)");
  add_number<std::uint64_t>(transfer, "--seed", options.seed, 0, 1U << 30, "seed (default: 1)");
  add_text(transfer, "--summaries", "DIR", options.summaries,
           "write loss and accuracy for TensorBoard to this folder, one folder per rate");
  transfer.add_flag("--misclassified", options.misclassified, "list misclassified test images");
  add_text(transfer, "--export", "FILE", options.export_file,
           "write the whole network (safetensors)");
}

constexpr std::array<CommandText, 3> kCommands{{
    {"train", "train a model and evaluate it on held-out images",
     "trainscope-workload train --seconds 20\n"
     "trainscope-workload train --model mobilenet_v2 --data synthetic --steps 100 --export net.pt"},
    {"label", "name what is in an image",
     "trainscope-workload label cat.jpg --weights efficientnet_lite0.safetensors"},
    {"transfer", "train a new last layer on a folder of images",
     "trainscope-workload transfer flowers --weights efficientnet_lite0.safetensors"},
}};

ParsedArguments stopped(std::string message, int exit_code) {
  ParsedArguments parsed;
  parsed.message = std::move(message);
  parsed.exit_code = exit_code;
  return parsed;
}

// What is wrong with the arguments of a command, in one sentence.
std::string fault(const CommandText& command, const CLI::App& app, const CLI::ParseError& error) {
  const std::string name(command.name);
  for (const std::string& word : app.remaining()) {
    if (!word.starts_with('-')) return name + ": unexpected argument '" + word + "'";
    const std::string given = word.substr(0, word.find('='));
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
    }
    const std::vector<std::string_view> views(known.begin(), known.end());
    return "unknown option '" + given + "' for " + name + did_you_mean(given, views);
  }
  const std::string text = error.what();
  if (error.get_name() != "ArgumentMismatch") return name + ": " + text;
  const std::string flag = text.substr(0, text.find(':'));
  const CLI::Option* option = app.get_option_no_throw(flag);
  const std::string value = option == nullptr ? "" : ": " + option->get_type_name();
  return name + ": " + flag + " needs a value" + value;
}

// The options of a command, which fill its part of `parsed`.
void add_options(CLI::App& app, const CommandText& command, std::span<const ModelName> models,
                 ParsedArguments& parsed) {
  app.set_help_flag("-h,--help", "print this help");
  if (command.name == "train") {
    TrainOptions& options = parsed.train.emplace();
    add_train_options(app, options, models);
    add_input_options(app, options);
    add_compute_options(app, options);
  } else if (command.name == "label") {
    add_label_options(app, parsed.label.emplace());
  } else {
    add_transfer_options(app, parsed.transfer.emplace());
  }
}

std::string manual_of_all(std::span<const ModelName> models) {
  Manual manual;
  for (const CommandText& command : kCommands) {
    CLI::App app;
    ParsedArguments parsed;
    add_options(app, command, models, parsed);
    manual.add(command, app);
  }
  return manual.text();
}

ParsedArguments parse_command(const CommandText& command, std::vector<std::string> words,
                              std::span<const ModelName> models) {
  ParsedArguments parsed;
  CLI::App app;
  add_options(app, command, models, parsed);
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the end.
    app.parse(std::move(words));
  } catch (const CLI::Success&) {
    const bool is_train = parsed.train.has_value();
    return stopped(
        command_help(command, app, "Models", is_train ? describe(models) : std::vector<HelpRow>()),
        0);
  } catch (const CLI::ParseError& error) {
    return stopped(usage_error(fault(command, app, error), command.name), 2);
  }
  if (parsed.train && !parsed.train->seconds && !parsed.train->steps && !parsed.train->epochs) {
    parsed.train->seconds = kDefaultSeconds;
  }
  return parsed;
}

}  // namespace

ParsedArguments parse_arguments(int argc, const char* const* argv,
                                std::span<const ModelName> models) {
  const std::vector<std::string> words(argv + 1, argv + std::max(argc, 1));
  if (words.empty()) return stopped(program_help(kCommands), 2);
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") {
    return stopped(program_help(kCommands), 0);
  }
  if (first == "--version" || first == "-v" || first == "-V" || first == "version") {
    return stopped("trainscope-workload " + std::string(kVersion) + "\n", 0);
  }
  if (first == "--man") return stopped(manual_of_all(models), 0);  // hidden: for `make install`
  for (const CommandText& command : kCommands) {
    if (command.name == first) {
      return parse_command(command, {words.begin() + 1, words.end()}, models);
    }
  }
  std::vector<std::string_view> known = {"--help", "--version"};
  for (const CommandText& command : kCommands) known.push_back(command.name);
  const std::string kind = first.starts_with('-') ? "unknown option '" : "unknown command '";
  return stopped(usage_error(kind + first + "'" + did_you_mean(first, known), ""), 2);
}

}  // namespace trainscope::workload
