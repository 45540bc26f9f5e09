#include "cli/completion.h"

#include "cli/help.h"

namespace trainscope {

namespace {

CompletionValue value_of(const CLI::Option& option) {
  CompletionValue value;
  value.name = value_name(option);
  // zsh reads an empty name as another kind of specification.
  if (value.name.empty()) value.name = option.get_name(option.get_positional(), false);
  value.choices = choices_of(option);
  if (!value.choices.empty()) {
    value.kind = Completes::choices;
  } else if (value.name.starts_with("RUN")) {
    value.kind = Completes::runs;
  } else if (value.name == "FILE" || value.name == "PATH") {
    value.kind = Completes::files;
  } else if (value.name == "DIR") {
    value.kind = Completes::folders;
  }
  return value;
}

CompletionOption describe_option(const CLI::Option& option) {
  CompletionOption described;
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  described.help = option.get_description();
  described.takes_value = option.get_items_expected_max() > 0;
  described.repeats = option.get_items_expected_max() > 1;
  described.value = value_of(option);
  return described;
}

CompletionCommand describe_command(const CLI::App& app) {
  CompletionCommand command;
  command.name = app.get_name();
  command.help = app.get_description();
  command.takes_job = app.get_prefix_command();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      command.arguments.push_back(value_of(*option));
      command.arguments_repeat = option->get_items_expected_max() > 1;
    } else {
      command.options.push_back(describe_option(*option));
    }
  }
  return command;
}

}  // namespace

std::vector<CompletionCommand> describe_commands(const CLI::App& root) {
  std::vector<CompletionCommand> commands;
  for (const CLI::App* app : root.get_subcommands({})) {
    if (!app->get_group().empty()) commands.push_back(describe_command(*app));
  }
  return commands;
}

std::string single_quoted(const std::string& text, bool fish) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += fish ? "\\'" : "'\\''";
    } else if (c == '\\' && fish) {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace trainscope
