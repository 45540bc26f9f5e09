#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/suggest.h"
#include "version.h"

namespace trainscope {

namespace {

// Stands where a job's words begin. CLI11 would split "[a,b]" and obey a second "--" among them;
// behind a first word that is no option it takes everything as it is.
constexpr const char* kJobMark = "command:";

struct Runner {
  CLI::App* app = nullptr;
  std::function<Result<int>()> run;
};

int usage_error(const std::string& message, const CLI::App* app) {
  const std::string which = app == nullptr ? "" : app->get_name() + " ";
  fmt::print(stderr, "trainscope: {}\ntry 'trainscope {}--help'\n", printable(message), which);
  return kExitUsage;
}

std::string unknown_option(const CLI::App& app, const std::string& word) {
  const std::string given = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return fmt::format("{} has no option {}{}", app.get_name(), given, did_you_mean(given, known));
}

std::string unknown_command(const std::string& word) {
  std::vector<std::string_view> known;
  for (const Command* command : commands()) {
    if (!command->hidden) known.push_back(command->name);
  }
  return fmt::format("there is no command '{}'{}", word, did_you_mean(word, known));
}

// Does this option word need the next one as its value?
Result<bool> takes_next(const CLI::App& app, const std::string& word) {
  const size_t equals = word.find('=');
  const bool is_long = word.starts_with("--");
  const std::string name = is_long ? word.substr(0, equals) : word.substr(0, 2);
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return Error(unknown_option(app, word));
  const bool has_value = is_long ? equals != std::string::npos : word.size() > 2;
  return option->get_items_expected_max() > 0 && !has_value;
}

// Puts kJobMark where the job's words begin: instead of the first `--`, or before the first word
// that is neither an option nor the value of one.
Status mark_job(const CLI::App& app, std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      words[i] = kJobMark;
      return {};
    }
    if (words[i].size() < 2 || words[i].front() != '-') {
      words.insert(words.begin() + static_cast<ptrdiff_t>(i), kJobMark);
      return {};
    }
    TS_TRY(const bool next, takes_next(app, words[i]));
    if (next) ++i;
  }
  return {};
}

std::vector<Runner> add_commands(CLI::App& root, const Settings& settings) {
  std::vector<Runner> runners;
  for (const Command* command : commands()) {
    CLI::App* app = root.add_subcommand(std::string(command->name), std::string(command->summary));
    app->group(command->hidden ? "" : "Commands");
    app->set_help_flag("-h,--help", "this text");
    runners.push_back({app, command->add(*app, settings)});
  }
  return runners;
}

const CLI::App* find_command(const CLI::App& root, const std::string& name) {
  for (const CLI::App* app : root.get_subcommands({})) {
    if (app->get_name() == name) return app;
  }
  return nullptr;
}

int parse_problem(const CLI::App& root, const CLI::ParseError& error) {
  const auto used = root.get_subcommands();
  const CLI::App* app = used.empty() ? nullptr : used.front();
  if (app != nullptr) {
    for (const std::string& word : app->remaining()) {
      if (word.size() > 1 && word.front() == '-')
        return usage_error(unknown_option(*app, word), app);
    }
    if (const auto rest = app->remaining(); !rest.empty()) {
      return usage_error(
          fmt::format("{}: '{}' is one word too many", app->get_name(), rest.front()), app);
    }
  }
  const std::string where = app == nullptr ? "" : app->get_name() + ": ";
  return usage_error(where + error.what(), app);
}

// What was printed must have arrived: a full disk is an error, a reader that left ends us quietly.
int finish(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE) {
    ::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);
  }
  fmt::print(stderr, "trainscope: cannot write the output: {}\n",
             errno == 0 ? "write error" : std::strerror(errno));
  return code == 0 ? kExitUsage : code;
}

int run_parsed(const std::vector<Runner>& runners, const Result<Settings>& settings) {
  for (const Runner& runner : runners) {
    if (!runner.app->parsed()) continue;
    if (!settings) {
      fmt::print(stderr, "trainscope: {}\n", settings.error().message());
      return kExitUsage;
    }
    const Result<int> code = runner.run();
    if (code) return finish(*code);
    std::fflush(stdout);
    fmt::print(stderr, "trainscope: {}\n", code.error().message());
    return kExitUsage;
  }
  return kExitUsage;
}

int parse_and_run(std::vector<std::string> words) {
  CLI::App root("Trainscope records what the hardware does while a model trains.", "trainscope");
  root.formatter(std::make_shared<HelpFormatter>());
  root.set_help_flag("-h,--help", "this text");
  root.set_version_flag("--version", fmt::format("trainscope {}", kVersion), "the version");
  root.require_subcommand(1, 1);
  const Result<Settings> settings = Settings::load();
  const std::vector<Runner> runners = add_commands(root, settings ? *settings : Settings());
  if (words.empty()) {
    fmt::print(stderr, "{}", root.help());
    return kExitUsage;
  }
  const std::string first = words.front();
  if (!first.starts_with('-')) {
    const CLI::App* app = find_command(root, first);
    if (app == nullptr) return usage_error(unknown_command(first), nullptr);
    if (app->get_prefix_command()) {
      words.erase(words.begin());
      if (const Status status = mark_job(*app, words); !status) {
        return usage_error(status.error().message(), app);
      }
      words.insert(words.begin(), first);
    }
  } else if (first != "--help" && first != "-h" && first != "--version") {
    return usage_error(unknown_option(root, first), nullptr);
  }
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
    root.parse(std::move(words));
  } catch (const CLI::Success& asked) {  // --help or --version
    return finish(root.exit(asked));
  } catch (const CLI::ParseError& error) {
    return parse_problem(root, error);
  }
  return run_parsed(runners, settings);
}

}  // namespace

std::vector<std::string> job_words(const CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  const auto mark = std::find(words.begin(), words.end(), kJobMark);
  if (mark == words.end()) return {};
  return {mark + 1, words.end()};
}

const CLI::App& root_of(const CLI::App& app) {
  const CLI::App* root = &app;
  while (root->get_parent() != nullptr) root = root->get_parent();
  return *root;
}

int run_command_line(int argc, char** argv) {
  try {
    return parse_and_run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    std::fputs("trainscope: not enough memory for this; try a machine or a limit with more\n",
               stderr);
  } catch (const std::exception& error) {
    fmt::print(stderr, "trainscope: internal error: {}\n", error.what());
  } catch (...) {
    fmt::print(stderr, "trainscope: internal error\n");
  }
  return kExitUsage;
}

}  // namespace trainscope
