#include "cli/help.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/cli.h"

namespace trainscope {

namespace {

constexpr std::string_view kExamples =
    R"(trainscope run -- python train.py      record a training job
trainscope info latest                 show what was recorded
trainscope doctor                      show what this machine can measure
trainscope demo                        record a built-in training job)";

constexpr size_t kNameWidth = 28;

std::string indented(std::string_view lines) {
  std::string out;
  for (const std::string_view line : split(lines, '\n')) {
    if (!line.empty()) out += fmt::format("  {}\n", line);
  }
  return out;
}

// A name and its meaning, in two columns; a name that is too long has its own line.
std::string row(const std::string& name, std::string_view help) {
  const std::string left = "  " + name;
  const size_t width = display_width(left);
  if (width + 1 > kNameWidth) {
    return fmt::format("{}\n{:{}}{}\n", left, "", kNameWidth, help);
  }
  return fmt::format("{}{:{}}{}\n", left, "", kNameWidth - width, help);
}

std::string option_row(const Option& option) {
  std::string name = option.label();
  if (option.repeats && option.is_argument()) name += " …";
  return row(name, option.help);
}

std::string help_row() { return row("-h,--help", kHelpHelp); }

}  // namespace

std::string usage_line(const CommandOptions& described) {
  std::string line = fmt::format("trainscope {} [OPTIONS]", described.command->name);
  for (const Option& option : described.options->all()) {
    if (!option.is_argument()) continue;
    const std::string word = option.name + (option.repeats ? "…" : "");
    line += option.is_required ? " " + word : " [" + word + "]";
  }
  if (described.options->takes_job()) line += " " + described.options->job_usage();
  return line;
}

std::string_view program_examples() { return kExamples; }

std::string program_help() {
  std::string out = "Record a training job and the machine it runs on.\n\n";
  out += fmt::format("Examples:\n{}\nUsage: trainscope COMMAND [OPTIONS]\n\nCommands:\n",
                     indented(kExamples));
  for (const Command* command : commands()) {
    if (!command->hidden) out += row(std::string(command->name), command->summary);
  }
  out += "\nOptions:\n" + help_row() + row("--version", kVersionHelp);
  return out + "\nRun 'trainscope COMMAND --help' for details.\n";
}

std::string command_help(const CommandOptions& described) {
  const Command& command = *described.command;
  std::string out = std::string(command.summary) + "\n\n";
  if (!command.examples.empty()) out += "Examples:\n" + indented(command.examples) + "\n";
  out += "Usage: " + usage_line(described) + "\n";
  std::string arguments;
  std::string options = help_row();
  for (const Option& option : described.options->all()) {
    (option.is_argument() ? arguments : options) += option_row(option);
  }
  if (!arguments.empty()) out += "\nArguments:\n" + arguments;
  out += "\nOptions:\n" + options;
  if (command.details == nullptr) return out;
  out += fmt::format("\n{}:\n", command.details_title);
  for (const HelpRow& detail : command.details()) out += row(detail.name, detail.help);
  return out;
}

}  // namespace trainscope
