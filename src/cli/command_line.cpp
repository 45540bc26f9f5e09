#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/print.h"
#include "version.h"

namespace trainscope {

namespace {

int usage_error(const std::string& message, std::string_view command) {
  print_message("trainscope: {}\ntry 'trainscope {}{}--help'\n", message, command,
                command.empty() ? "" : " ");
  return kExitUsage;
}

// Names that other programs have for our commands.
struct OtherName {
  std::string_view name, command;
};
constexpr OtherName kOtherNames[] = {{"ls", "list"}, {"show", "info"}};

// What to type instead of a command that other programs have.
struct Hint {
  std::string_view name, instead;
};
constexpr Hint kHints[] = {
    {"rename", "edit RUN --name NAME"},
    {"tag", "edit RUN --tag KEY=VALUE"},
    {"note", "edit RUN --note TEXT"},
    {"remove", "rm RUN"},
    {"delete", "rm RUN"},
    {"record", "run -- COMMAND"},
    {"start", "run -- COMMAND"},
    {"query", "sql RUN QUERY"},
    {"diff", "compare A B"},
};

std::string unknown_command(const std::string& word) {
  for (const Hint& hint : kHints) {
    if (hint.name == word) {
      return fmt::format("unknown command '{}'; try: trainscope {}", word, hint.instead);
    }
  }
  std::vector<std::string_view> known;
  for (const Command* command : commands()) {
    if (!command->hidden) known.push_back(command->name);
  }
  return fmt::format("unknown command '{}'{}", word, did_you_mean(word, known));
}

const Command* find_command(std::string_view name) {
  for (const OtherName& other : kOtherNames) {
    if (other.name == name) name = other.command;
  }
  for (const Command* command : commands()) {
    if (command->name == name) return command;
  }
  return nullptr;
}

// The output must have arrived: a full disk is an error, a reader that left ends us quietly.
int finish(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE) {
    ::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);
  }
  print_error(fmt::format("cannot write the output: {}",
                          errno == 0 ? "write error" : std::strerror(errno)));
  return code == 0 ? kExitUsage : code;
}

int call_command(const Command& command, std::vector<std::string> arguments) {
  const Result<Settings> settings = Settings::load();
  const CommandOptions described = {&command, std::make_shared<Options>()};
  const auto run = command.add(*described.options, settings ? *settings : Settings());
  const auto parsed = parse_arguments(command, *described.options, std::move(arguments));
  if (!parsed) return usage_error(parsed.error().message(), command.name);
  if (*parsed == Parsed::help_wanted) {
    show_text(command_help(described));
    return finish(0);
  }
  const Result<int> code = settings ? run() : Result<int>(settings.error());
  if (code) return finish(*code);
  std::fflush(stdout);
  print_error(code.error().message());
  return kExitUsage;
}

// `help`, `help COMMAND`
int show_help(const std::vector<std::string>& words) {
  if (words.size() < 2) {
    show_text(program_help());
    return finish(0);
  }
  const Command* command = find_command(words[1]);
  if (command == nullptr) return usage_error(unknown_command(words[1]), "");
  return call_command(*command, {"--help"});
}

int parse_and_run(std::vector<std::string> words) {
  if (words.empty()) {
    print_message_text(program_help());
    return kExitUsage;
  }
  const std::string first = words.front();
  if (first == "--help" || first == "-h" || first == "help") return show_help(words);
  if (first == "--version" || first == "-v" || first == "-V" || first == "version") {
    show("trainscope {}\n", kVersion);
    return finish(0);
  }
  if (first.starts_with('-')) {
    return usage_error(
        fmt::format("unknown option '{}'{}", first, did_you_mean(first, {{"--help", "--version"}})),
        "");
  }
  const Command* command = find_command(first);
  if (command == nullptr) return usage_error(unknown_command(first), "");
  words.erase(words.begin());
  return call_command(*command, std::move(words));
}

}  // namespace

int run_command_line(int argc, char** argv) {
  try {
    return parse_and_run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    std::fputs("trainscope: not enough memory; try a machine with more or a higher limit\n",
               stderr);
  } catch (const std::exception& error) {
    print_error(fmt::format("internal error: {}", error.what()));
  } catch (...) {
    print_error("internal error");
  }
  return kExitUsage;
}

}  // namespace trainscope
