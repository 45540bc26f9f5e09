// bash: one function with a case for each command. `compgen -W` would expand $(…) in its argument,
// so names of runs go through a loop that only compares.
#include <fmt/format.h>

#include "cli/completion.h"

namespace trainscope {

namespace {

constexpr const char* kBashBegin =
    R"bash(# bash completion for trainscope: source <(trainscope completion bash)

_trainscope_runs() {
  local word
  while IFS= read -r word; do
    [[ $word == "$cur"* ]] && COMPREPLY+=("$(printf '%q' "$word")")
  done < <("${COMP_WORDS[0]}" complete-runs 2>/dev/null)
}

_trainscope_files() {
  local word
  compopt -o filenames 2>/dev/null
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$1" -- "$cur")
}

_trainscope_words() {
  local word
  for word in "$@"; do [[ $word == "$cur"* ]] && COMPREPLY+=("$word"); done
}

# The job's own words begin at $1.
_trainscope_job() {
  if ((COMP_CWORD == $1)); then
    local word
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -c -- "$cur")
    _trainscope_files -f
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  else
    _trainscope_files -f
  fi
}

# Sets job to where the job's words begin: after --, or at the first word that is neither an option
# nor the value of one of those in $1.
_trainscope_find_job() {
  local i
  job=0
  for ((i = 2; i <= COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) ((i < COMP_CWORD)) && job=$((i + 1)) && return ;;
      -*)
        if [[ " $1 " == *" ${COMP_WORDS[i]} "* ]]; then
          [[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++))
          ((i++))
        fi
        ;;
      *) job=$i && return ;;
    esac
  done
}

_trainscope() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} job=0
  COMPREPLY=()
  # bash cuts --every=5s into three words.
  if [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [[ $cur == '=' ]]; then cur=''; fi
)bash";

std::string completed(const CompletionValue& value) {
  switch (value.kind) {
    case Completes::runs:
      return "_trainscope_runs";
    case Completes::files:
      return "_trainscope_files -f";
    case Completes::folders:
      return "_trainscope_files -d";
    case Completes::choices:
      return fmt::format("_trainscope_words {}", fmt::join(value.choices, " "));
    case Completes::nothing:
      break;
  }
  return ":";
}

std::string all_names(const CompletionCommand& command, bool with_value_only) {
  std::vector<std::string> names;
  for (const CompletionOption& option : command.options) {
    if (with_value_only && !option.takes_value) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_case(const CompletionCommand& command) {
  std::string out = fmt::format("    {})\n", command.name);
  if (command.takes_job) {
    out += fmt::format("      _trainscope_find_job '{}'\n", all_names(command, true));
    out += "      if ((job > 0)); then _trainscope_job \"$job\"; return; fi\n";
  }
  out += "      case $prev in\n";
  for (const CompletionOption& option : command.options) {
    if (!option.takes_value) continue;
    out += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"),
                       completed(option.value));
  }
  out += "      esac\n";
  out += fmt::format("      if [[ $cur == -* ]]; then _trainscope_words {}; return; fi\n",
                     all_names(command, false));
  // Only the first argument is distinguished; later ones are of the same kind where it matters.
  if (!command.arguments.empty()) {
    out += fmt::format("      {}\n", completed(command.arguments.front()));
  }
  return out + "      ;;\n";
}

}  // namespace

std::string bash_completion(const std::vector<CompletionCommand>& commands) {
  std::vector<std::string> names;
  for (const CompletionCommand& command : commands) names.push_back(command.name);
  std::string out = kBashBegin;
  out += fmt::format(
      "  if ((COMP_CWORD == 1)); then\n    _trainscope_words {} --help --version\n    return\n  "
      "fi\n",
      fmt::join(names, " "));
  out += "  case ${COMP_WORDS[1]} in\n";
  for (const CompletionCommand& command : commands) out += bash_case(command);
  return out + "  esac\n}\n\ncomplete -F _trainscope trainscope\n";
}

}  // namespace trainscope
