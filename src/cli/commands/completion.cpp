// completion: the script that a shell loads to complete our command line.
#include "cli/completion.h"
#include "cli/print.h"

#include "cli/cli.h"

namespace trainscope::completion_command {

namespace {

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto shell = std::make_shared<std::string>();
  options.add({.name = "SHELL",
               .value = "SHELL",
               .help = "shell to complete for",
               .choices = {"bash", "zsh", "fish"},
               .is_required = true,
               .set = store_in(*shell)});
  return [settings, shell]() -> Result<int> {
    const auto commands = describe_completion(describe_commands(settings));
    TS_CHECK_OK(write_stdout(*shell == "bash"  ? bash_completion(commands)
                             : *shell == "zsh" ? zsh_completion(commands)
                                               : fish_completion(commands)));
    return 0;
  };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "completion",
    .summary = "print the completion script for a shell",
    .examples = R"(source <(trainscope completion bash)     in ~/.bashrc
source <(trainscope completion zsh)      in ~/.zshrc, after compinit
trainscope completion fish | source      in ~/.config/fish/config.fish)",
    .add = add,
};

}  // namespace trainscope::completion_command
