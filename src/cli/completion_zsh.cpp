// zsh: one _arguments call for each command.
#include <fmt/format.h>

#include "cli/completion.h"
#include "cli/help.h"

namespace trainscope {

namespace {

constexpr const char* kZshBegin = R"zsh(#compdef trainscope
# zsh completion for trainscope: source <(trainscope completion zsh), or save it as _trainscope in a
# folder of $fpath.

_trainscope_runs() {
  local -a runs
  runs=("${(@f)$("$program" complete-runs 2>/dev/null)}")
  (( $#runs )) && compadd -a runs
}

_trainscope() {
  local program=$words[1] curcontext=$curcontext state line
  local -a commands
)zsh";

constexpr const char* kZshCommands = R"zsh(    '1: :->command' '*:: :->rest'
  case $state in
    command)
      commands=(
)zsh";

// Within a specification of _arguments, where [ ] and : are special.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action(const CompletionValue& value) {
  switch (value.kind) {
    case Completes::runs:
      return "_trainscope_runs";
    case Completes::files:
      return "_files";
    case Completes::folders:
      return "_files -/";
    case Completes::choices:
      return fmt::format("({})", fmt::join(value.choices, " "));
    case Completes::nothing:
      break;
  }
  return " ";
}

std::string option_specs(const CompletionOption& option) {
  std::string out;
  for (const std::string& name : option.names) {
    std::string spec = option.repeats ? "*" : "";
    spec += name;
    if (option.takes_value) spec += name.starts_with("--") ? "=" : "+";
    spec += "[" + escaped(option.help) + "]";
    if (option.takes_value) spec += ":" + escaped(option.value.name) + ":" + action(option.value);
    out += " \\\n            " + single_quoted(spec);
  }
  return out;
}

std::string zsh_case(const CompletionCommand& command) {
  std::string out = fmt::format("        {})\n          _arguments -S", command.name);
  for (const CompletionOption& option : command.options) out += option_specs(option);
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    const bool many = command.arguments_repeat && i + 1 == command.arguments.size();
    const CompletionValue& value = command.arguments[i];
    const std::string place = many ? "*" : std::to_string(i + 1);
    out += " \\\n            " +
           single_quoted(place + ":" + escaped(value.name) + ":" + action(value));
  }
  if (command.takes_job) {
    out += " \\\n            '(-):command: _command_names -e' '*::arguments: _normal'";
  }
  return out + "\n          ;;\n";
}

}  // namespace

std::string zsh_completion(const std::vector<CompletionCommand>& commands) {
  std::string out = kZshBegin;
  out += fmt::format("  _arguments -C '(- *)'{{-h,--help}}'[{}]' '(- *)--version[{}]' \\\n",
                     kHelpHelp, kVersionHelp);
  out += kZshCommands;
  for (const CompletionCommand& command : commands) {
    out += "        " + single_quoted(command.name + ":" + escaped(command.help)) + "\n";
  }
  out +=
      "      )\n      _describe -t commands command commands\n      ;;\n"
      "    rest)\n      case $words[1] in\n";
  for (const CompletionCommand& command : commands) out += zsh_case(command);
  return out +
         "      esac\n      ;;\n  esac\n}\n\n"
         "if [[ $funcstack[1] == _trainscope ]]; then\n  _trainscope \"$@\"\nelse\n"
         "  compdef _trainscope trainscope\nfi\n";
}

}  // namespace trainscope
