#include "cli/man.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/man_page.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/setting_table.h"
#include "version.h"

namespace trainscope {

namespace {

std::string page_source() { return fmt::format("trainscope {}", kVersion); }

std::string page_name(const Command& command) { return fmt::format("trainscope-{}", command.name); }

// The tables are written for Markdown, where `x` is code.
std::string without_backticks(std::string_view text) {
  std::string out(text);
  std::erase(out, '`');
  return out;
}

void add_option(ManPage& page, const Option& option) {
  if (option.is_argument()) {
    const std::string value = option.choices.empty() ? "" : option.value_text();
    page.entry(option.name + (option.repeats ? " …" : ""), value, option.help);
  } else {
    page.entry(fmt::format("{}", fmt::join(option.names(), ", ")), option.value_text(),
               option.help);
  }
}

void add_options(ManPage& page, const Options& options) {
  for (const Option& option : options.all()) {
    if (option.is_argument()) add_option(page, option);
  }
  page.entry("-h, --help", "", "print a help text");
  for (const Option& option : options.all()) {
    if (!option.is_argument()) add_option(page, option);
  }
}

// The settings that this command has a flag for can be set in two more ways.
void add_variables(ManPage& page, const Options& options) {
  std::string names;
  for (const SettingSpec& spec : setting_specs()) {
    if (options.find(fmt::format("--{}", spec.name)) == nullptr) continue;
    names += (names.empty() ? "" : ", ") + setting_variable(spec.name);
  }
  if (names.empty()) return;
  page.section("ENVIRONMENT");
  page.paragraph(names + ": the options of the same names, which take precedence.");
}

void add_exit_codes(ManPage& page, std::string_view command) {
  page.section("EXIT STATUS");
  const std::string own = fmt::format("`{}`", command);
  // An own row is more precise than the one that applies to every command.
  const auto has_own = [&](const ExitCode& general) {
    return std::ranges::any_of(kExitCodes, [&](const ExitCode& code) {
      return code.command == own && code.code == general.code;
    });
  };
  for (const ExitCode& code : kExitCodes) {
    const bool is_general = code.command == "every command" && !has_own(code);
    if (is_general || code.command == own) {
      page.entry(code.code, "", without_backticks(code.meaning));
    }
  }
}

std::string command_page(const CommandOptions& described) {
  const Command& command = *described.command;
  ManPage page(page_name(command), command.summary, page_source());
  page.section("SYNOPSIS");
  page.paragraph(usage_line(described));
  if (!command.examples.empty()) {
    page.section("EXAMPLES");
    page.example(command.examples);
  }
  page.section("OPTIONS");
  add_options(page, *described.options);
  add_variables(page, *described.options);
  add_exit_codes(page, command.name);
  page.section("SEE ALSO");
  page.paragraph("trainscope(1)");
  return page.text();
}

void add_files(ManPage& page) {
  page.section("FILES");
  page.entry("$XDG_DATA_HOME/trainscope", "", "the runs, unless TRAINSCOPE_HOME names a folder");
  page.entry("trainscope.toml", "",
             "settings, one per line (every = \"50ms\"), in the working directory and in "
             "$XDG_CONFIG_HOME/trainscope");
  page.entry("trainscope-gpu", "",
             "queries GPU drivers; started by trainscope, in whose folder it has to be");
}

std::string program_page(const std::vector<CommandOptions>& commands) {
  ManPage page("trainscope", "record a training job and the machine it runs on", page_source());
  page.section("SYNOPSIS");
  page.paragraph("trainscope COMMAND [OPTIONS]");
  page.section("EXAMPLES");
  page.example(program_examples());
  page.section("COMMANDS");
  std::string pages;
  for (const CommandOptions& described : commands) {
    page.entry(described.command->name, "", described.command->summary);
    pages += (pages.empty() ? "" : ", ") + page_name(*described.command) + "(1)";
  }
  page.section("OPTIONS");
  page.entry("-h, --help", "", "print a help text; after a COMMAND, that of the command");
  page.entry("--version", "", "print the version");
  page.section("ENVIRONMENT");
  page.paragraph("A flag takes precedence over a variable, and that over trainscope.toml.");
  for (const SettingSpec& spec : setting_specs()) {
    page.entry(setting_variable(spec.name), spec.value, setting_option(spec, nullptr).help);
  }
  add_files(page);
  add_exit_codes(page, "");
  page.section("SEE ALSO");
  page.paragraph(pages);
  return page.text();
}

}  // namespace

std::map<std::string, std::string> man_pages(const std::vector<CommandOptions>& commands) {
  std::map<std::string, std::string> pages = {{"trainscope.1", program_page(commands)}};
  for (const CommandOptions& described : commands) {
    pages[page_name(*described.command) + ".1"] = command_page(described);
  }
  return pages;
}

}  // namespace trainscope
