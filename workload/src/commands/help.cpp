#include "commands/help.h"

#include <CLI/CLI.hpp>

namespace trainscope::workload {
namespace {

constexpr std::size_t kNameWidth = 28;

std::string indented(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out += "  " + std::string(lines.substr(0, end)) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

// Two columns; a name that is too long has its own line.
std::string row(const std::string& name, std::string_view help) {
  std::string left = "  " + name;
  if (left.size() + 1 > kNameWidth) left += "\n" + std::string(kNameWidth, ' ');
  if (left.size() < kNameWidth) left.resize(kNameWidth, ' ');
  return left + std::string(help) + "\n";
}

std::string label(const CLI::Option& option) {
  const std::string name = option.get_name(false, true);
  const std::string value = option.get_type_name();
  return value.empty() || option.get_positional() ? name : name + " " + value;
}

}  // namespace

std::string program_help(std::span<const CommandText> commands) {
  std::string out = "Train models in C++ on libtorch: a job to record and measure.\n\nExamples:\n";
  for (const CommandText& command : commands) {
    out += indented(command.examples.substr(0, command.examples.find('\n')));
  }
  out += "\nUsage: trainscope-workload COMMAND [OPTIONS]\n\nCommands:\n";
  for (const CommandText& command : commands)
    out += row(std::string(command.name), command.summary);
  return out + "\nOptions:\n" + row("-h,--help", "print this help") +
         row("--version", "print the version") +
         "\nRun 'trainscope-workload COMMAND --help' for details.\n";
}

std::string command_help(const CommandText& command, const CLI::App& app, std::string_view title,
                         const std::vector<HelpRow>& rows) {
  std::string usage = "trainscope-workload " + std::string(command.name) + " [OPTIONS]";
  std::string arguments;
  std::string options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) usage += " " + option->get_name();
    (option->get_positional() ? arguments : options) +=
        row(label(*option), option->get_description());
  }
  std::string out = std::string(command.summary) + "\n\nExamples:\n" + indented(command.examples);
  out += "\nUsage: " + usage + "\n";
  if (!arguments.empty()) out += "\nArguments:\n" + arguments;
  out += "\nOptions:\n" + options;
  if (rows.empty()) return out;
  out += "\n" + std::string(title) + ":\n";
  for (const HelpRow& one : rows) out += row(one.name, one.help);
  return out;
}

std::string usage_error(const std::string& message, std::string_view command) {
  const std::string space = command.empty() ? "" : " ";
  return "trainscope-workload: " + message + "\ntry 'trainscope-workload" + space +
         std::string(command) + " --help'\n";
}

}  // namespace trainscope::workload
