// fish: one `complete` line for each command, option and argument.
#include <fmt/format.h>

#include "cli/completion.h"
#include "cli/help.h"

namespace trainscope {

namespace {

constexpr const char* kFishBegin =
    R"fish(# fish completion for trainscope: trainscope completion fish | source

function __trainscope_runs
    set -l words (commandline -opc)
    $words[1] complete-runs 2>/dev/null
end

function __trainscope_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = "$argv[1]"
end

function __trainscope_no_command
    test (count (commandline -opc)) -eq 1
end

# What the job itself would complete; $argv are our options that take a value.
function __trainscope_job
    set -l words (commandline -opc)
    set -l at 3
    while test $at -le (count $words)
        switch $words[$at]
            case --
                set at (math $at + 1)
                break
            case '-*'
                contains -- $words[$at] $argv; and set at (math $at + 1)
                set at (math $at + 1)
            case '*'
                break
        end
    end
    # Beyond: the word is the value of an option.
    test $at -gt (math (count $words) + 1); and return
    set -l rest
    test $at -le (count $words); and set rest (string escape -- $words[$at..-1])
    complete -C (string join ' ' -- $rest (commandline -ct))
end

complete -c trainscope -f
)fish";

std::string candidates(const CompletionValue& value) {
  switch (value.kind) {
    case Completes::runs:
      return "-x -a '(__trainscope_runs)'";
    case Completes::files:
      return "-r -F";
    case Completes::folders:
      return "-x -a '(__fish_complete_directories)'";
    case Completes::choices:
      return fmt::format("-x -a '{}'", fmt::join(value.choices, " "));
    case Completes::nothing:
      break;
  }
  return "-x";
}

std::string option_line(const std::string& prefix, const CompletionOption& option) {
  std::string line = prefix;
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.takes_value) line += " " + candidates(option.value);
  return line + " -d " + single_quoted(option.help, true) + "\n";
}

std::string value_options(const CompletionCommand& command) {
  std::vector<std::string> names;
  for (const CompletionOption& option : command.options) {
    if (option.takes_value) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

std::string fish_completion(const std::vector<CompletionCommand>& commands) {
  const std::string program = "complete -c trainscope -n __trainscope_no_command";
  std::string out = kFishBegin;
  out += fmt::format("{} -s h -l help -d '{}'\n", program, kHelpHelp);
  out += fmt::format("{} -l version -d '{}'\n", program, kVersionHelp);
  for (const CompletionCommand& command : commands) {
    out +=
        fmt::format("{} -a {} -d {}\n", program, command.name, single_quoted(command.help, true));
    const std::string prefix =
        fmt::format("complete -c trainscope -n '__trainscope_command {}'", command.name);
    for (const CompletionOption& option : command.options) out += option_line(prefix, option);
    for (const CompletionValue& argument : command.arguments) {
      if (argument.kind == Completes::nothing) continue;
      const bool files = argument.kind == Completes::files;
      out += prefix + " " + (files ? "-F" : candidates(argument).substr(3)) + "\n";
    }
    if (command.takes_job) {
      out += fmt::format("{} -a '(__trainscope_job {})'\n", prefix, value_options(command));
    }
  }
  return out;
}

}  // namespace trainscope
