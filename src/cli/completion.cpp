#include "cli/completion.h"

#include "cli/cli.h"
#include "cli/help.h"

namespace trainscope {

namespace {

CompletionValue value_of(const Option& option) {
  CompletionValue value;
  value.name = option.value;
  value.choices = option.choices;
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

CompletionCommand describe(const CommandOptions& described) {
  CompletionCommand command;
  command.name = described.command->name;
  command.help = described.command->summary;
  command.takes_job = described.options->takes_job();
  command.options.push_back({{"-h", "--help"}, std::string(kHelpHelp), false, false, {}});
  for (const Option& option : described.options->all()) {
    if (option.is_argument()) {
      command.arguments.push_back(value_of(option));
      command.arguments_repeat = option.repeats;
    } else {
      command.options.push_back(
          {option.names(), option.help, !option.is_flag(), option.repeats, value_of(option)});
    }
  }
  return command;
}

}  // namespace

std::vector<CompletionCommand> describe_completion(const std::vector<CommandOptions>& commands) {
  std::vector<CompletionCommand> described;
  for (const CommandOptions& command : commands) described.push_back(describe(command));
  return described;
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
