// Completion for bash, zsh and fish, generated from the table of commands.
//
// Guarantees: names of runs are data to the shell, never code. Limits: a RUN is completed with the
// output of `trainscope complete-runs`; a job's arguments are left to the shell's own completion.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace trainscope {

enum class Completes { nothing, runs, files, folders, choices };

struct CompletionValue {
  Completes kind = Completes::nothing;
  std::string name;  // DURATION, RUN …
  std::vector<std::string> choices;
};

struct CompletionOption {
  std::vector<std::string> names;  // "--name", "-n"
  std::string help;
  bool takes_value = false;
  bool repeats = false;
  CompletionValue value;
};

struct CompletionCommand {
  std::string name, help;
  std::vector<CompletionOption> options;
  std::vector<CompletionValue> arguments;
  bool arguments_repeat = false;  // the last one
  bool takes_job = false;
};

std::vector<CompletionCommand> describe_completion(const std::vector<CommandOptions>& commands);

std::string bash_completion(const std::vector<CompletionCommand>& commands);
std::string zsh_completion(const std::vector<CompletionCommand>& commands);
std::string fish_completion(const std::vector<CompletionCommand>& commands);

// Text in single quotes, as sh, zsh and (with `fish`) fish read it.
std::string single_quoted(const std::string& text, bool fish = false);

}  // namespace trainscope
