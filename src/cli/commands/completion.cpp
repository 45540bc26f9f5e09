// completion: what a shell loads to complete our command line.
#include "cli/completion.h"
#include "cli/print.h"

#include "cli/cli.h"

namespace trainscope {

namespace {

std::function<Result<int>()> add(CLI::App& app, const Settings& /*settings*/) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  return [&app, shell]() -> Result<int> {
    const auto commands = describe_commands(root_of(app));
    TS_CHECK_OK(write_stdout(*shell == "bash"  ? bash_completion(commands)
                             : *shell == "zsh" ? zsh_completion(commands)
                                               : fish_completion(commands)));
    return 0;
  };
}

}  // namespace

extern const Command completion_command;
const Command completion_command = {
    .name = "completion",
    .summary = "print the completion for a shell",
    .examples = R"(source <(trainscope completion bash)     in ~/.bashrc
source <(trainscope completion zsh)      in ~/.zshrc, behind compinit
trainscope completion fish | source      in ~/.config/fish/config.fish)",
    .add = add,
};

}  // namespace trainscope
