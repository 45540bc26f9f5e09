#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <optional>

#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/options.h"

namespace trainscope {

namespace {

// Marks where a job's arguments begin. CLI11 would split "[a,b]" and interpret a second "--" among
// them; after a first argument that is not an option it takes everything as it is.
constexpr const char* kJobMark = "command:";

Error unknown_option(const Command& command, const Options& options, const std::string& word) {
  const std::string given = word.substr(0, word.find('='));
  std::vector<std::string> names = {"--help"};
  for (const Option& option : options.all()) {
    for (std::string& name : option.names()) names.push_back(std::move(name));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return Error(
      fmt::format("unknown option '{}' for {}{}", given, command.name, did_you_mean(given, known)));
}

// Does this option need the next argument as its value?
Result<bool> takes_next(const Command& command, const Options& options, const std::string& word) {
  const size_t equals = word.find('=');
  const bool is_long = word.starts_with("--");
  const std::string name = is_long ? word.substr(0, equals) : word.substr(0, 2);
  if (name == "--help" || name == "-h") return false;
  const Option* option = options.find(name);
  if (option == nullptr) return unknown_option(command, options, word);
  const bool has_value = is_long ? equals != std::string::npos : word.size() > 2;
  return !option->is_flag() && !has_value;
}

// Puts kJobMark where the job's arguments begin: instead of the first `--`, or before the first
// argument that is neither an option nor the value of one.
Status mark_job(const Command& command, const Options& options, std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      words[i] = kJobMark;
      return {};
    }
    if (words[i].size() < 2 || words[i].front() != '-') {
      words.insert(words.begin() + static_cast<ptrdiff_t>(i), kJobMark);
      return {};
    }
    TS_TRY(const bool next, takes_next(command, options, words[i]));
    if (next) ++i;
  }
  return {};
}

CLI::Option* add_row(CLI::App& app, const Option& option, std::vector<std::string>& values) {
  if (option.is_flag()) {
    return app.add_flag(option.name)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->disable_flag_override();
  }
  if (!option.is_argument()) {
    // One value each time it is given; "[a,b]" is one too.
    return app.add_option(option.name, values)->expected(1)->take_all()->allow_extra_args(false);
  }
  if (option.repeats) return app.add_option(option.name, values);
  return app.add_option(option.name, values.emplace_back());
}

Error parse_error(const Command& command, const Options& options, const CLI::App& app,
                  const CLI::ParseError& error) {
  for (const std::string& word : app.remaining()) {
    if (word == kJobMark) break;  // the rest belongs to the job
    if (word.size() > 1 && word.front() == '-') return unknown_option(command, options, word);
    return Error(fmt::format("{}: unexpected argument '{}'", command.name, word));
  }
  const std::string_view text = error.what();
  if (const size_t given = text.find(" was given a disallowed flag"); given != text.npos) {
    return Error(fmt::format("{}: --{} takes no value", command.name, text.substr(0, given)));
  }
  const std::string_view name = text.substr(0, text.find(':'));
  const Option* option = options.find(name);
  if (option == nullptr) return Error(fmt::format("{}: {}", command.name, text));
  if (option->is_flag()) return Error(fmt::format("{}: {} takes no value", command.name, name));
  return Error(fmt::format("{}: {} needs a value: {}", command.name, name, option->value_text()));
}

Status check_values(const Command& command, const Option& option, bool is_given,
                    const std::vector<std::string>& values) {
  if (option.is_required && !is_given) {
    return Error(fmt::format("{}: {} is required", command.name, option.name));
  }
  for (const std::string& value : values) {
    const auto& choices = option.choices;
    if (!is_given || choices.empty()) continue;
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) continue;
    const std::vector<std::string_view> known(choices.begin(), choices.end());
    return Error(fmt::format("{}: {} must be one of {}, not '{}'{}", command.name, option.name,
                             fmt::join(choices, ", "), value, did_you_mean(value, known)));
  }
  return {};
}

// `sql QUERY`: an argument that is required takes the value of the optional one before it.
void fill_required_argument(const Options& options, std::vector<bool>& given,
                            std::deque<std::vector<std::string>>& values) {
  std::optional<size_t> before;
  for (size_t i = 0; i < given.size(); ++i) {
    const Option& option = options.all()[i];
    if (!option.is_argument()) continue;
    if (before && option.is_required && !given[i] && given[*before] &&
        !options.all()[*before].is_required) {
      std::swap(values[*before], values[i]);
      given[*before] = false;
      given[i] = true;
    }
    before = i;
  }
}

}  // namespace

Result<Parsed> parse_arguments(const Command& command, Options& options,
                               std::vector<std::string> arguments) {
  if (options.takes_job()) TS_CHECK_OK(mark_job(command, options, arguments));
  CLI::App app;
  app.set_help_flag("-h,--help");
  if (options.takes_job()) app.prefix_command();
  std::deque<std::vector<std::string>> values;
  std::vector<CLI::Option*> rows;
  for (const Option& option : options.all()) {
    rows.push_back(add_row(app, option, values.emplace_back()));
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the end.
    app.parse(std::move(arguments));
  } catch (const CLI::Success&) {
    return Parsed::help_wanted;
  } catch (const CLI::ParseError& error) {
    return parse_error(command, options, app, error);
  }
  std::vector<bool> given;
  for (const CLI::Option* row : rows) given.push_back(row->count() > 0);
  fill_required_argument(options, given, values);
  for (size_t i = 0; i < rows.size(); ++i) {
    TS_CHECK_OK(check_values(command, options.all()[i], given[i], values[i]));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const Option& option = options.all()[i];
    if (!given[i]) continue;
    if (option.is_flag()) option.set("");
    for (const std::string& value : values[i]) option.set(value);
  }
  const std::vector<std::string> rest = app.remaining();
  const auto mark = std::find(rest.begin(), rest.end(), kJobMark);
  if (mark != rest.end()) options.job.assign(mark + 1, rest.end());
  return Parsed::ready;
}

}  // namespace trainscope
