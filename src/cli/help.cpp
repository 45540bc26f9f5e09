#include "cli/help.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "cli/cli.h"

namespace trainscope {

namespace {

const Command* command_of(const CLI::App& app) {
  for (const Command* command : commands()) {
    if (app.get_parent() != nullptr && app.get_name() == command->name) return command;
  }
  return nullptr;
}

constexpr std::string_view kExamples =
    R"(trainscope run -- python train.py      record a training job
trainscope info latest                 what was recorded
trainscope doctor                      what this machine can measure
trainscope demo                        the whole story on a built-in job)";

std::string indented(std::string_view lines) {
  std::string out;
  for (const std::string_view line : split(lines, '\n')) {
    if (!line.empty()) out += fmt::format("  {}\n", line);
  }
  return out;
}

}  // namespace

std::string usage_line(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "trainscope COMMAND [OPTIONS]";
  std::string line = "trainscope " + app.get_name() + " [OPTIONS]";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || option->get_group().empty()) continue;
    const bool many = option->get_items_expected_max() > 1;
    const std::string word = option->get_name(true, false) + (many ? "…" : "");
    line += option->get_required() ? " " + word : " [" + word + "]";
  }
  if (app.get_prefix_command()) line += " -- COMMAND…";
  return line;
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string /*name*/) const {
  return "Usage: " + usage_line(*app) + "\n";
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_items_expected_max() == 0) return "";
  const std::string name = value_name(*option);
  std::string text = name.empty() ? "" : " " + name;
  if (const auto choices = choices_of(*option); !choices.empty()) {
    text = fmt::format(" {}", fmt::join(choices, "|"));
  }
  if (option->get_items_expected_max() > 1) text += " …";
  return text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  const Command* command = command_of(*app);
  const std::string_view examples = command == nullptr ? kExamples : command->examples;
  std::string out = app->get_description() + "\n\n";
  if (!examples.empty()) out += "Examples:\n" + indented(examples) + "\n";
  out += make_usage(app, std::move(name));
  out += make_positionals(app);
  out += make_subcommands(app, mode);
  out += make_groups(app, mode);
  if (command == nullptr) out += "\n`trainscope COMMAND --help` tells more of each.\n";
  return out;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  const std::string_view inside = std::string_view(type).substr(open + 1, close - open - 1);
  for (const std::string_view choice : split(inside, ',')) choices.emplace_back(choice);
  return choices;
}

std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  return type.substr(0, type.find_first_of(":{"));
}

}  // namespace trainscope
