#include "commands/manual.h"

#include <CLI/CLI.hpp>
#include <functional>

#include "base/man_page.h"

namespace trainscope::workload {
namespace {

void add_command(ManPage& page, const CLI::App& command) {
  page.subsection(command.get_name());
  page.paragraph(command.get_description());
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    const bool takes_value = option->get_type_size() != 0 && !option->get_positional();
    page.entry(option->get_name(option->get_positional(), true),
               takes_value ? option->get_type_name() : "", option->get_description());
  }
}

std::string manual(const CLI::App& app) {
  ManPage page(app.get_name(), "a training job to record and measure", "Trainscope");
  page.section("SYNOPSIS");
  page.paragraph(app.get_name() + " COMMAND [OPTIONS]");
  page.section("DESCRIPTION");
  page.paragraph(app.get_description());
  page.section("COMMANDS");
  const std::function<bool(const CLI::App*)> all = [](const CLI::App*) { return true; };
  for (const CLI::App* command : app.get_subcommands(all)) add_command(page, *command);
  page.section("EXIT STATUS");
  page.entry("0", "", "done");
  page.entry("1", "", "the training failed while it was running");
  page.entry("2", "", "usage error or bad input");
  page.section("SEE ALSO");
  page.paragraph("trainscope(1), trainscope-demo(1)");
  return page.text();
}

}  // namespace

void add_manual_option(CLI::App& app) {
  // CLI11 prints what a request for the version carries, and exits with 0.
  app.add_flag_callback("--man", [&app] { throw CLI::CallForVersion(manual(app), 0); })->group("");
}

}  // namespace trainscope::workload
