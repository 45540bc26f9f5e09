#include "commands/manual.h"

#include <CLI/CLI.hpp>

namespace trainscope::workload {

Manual::Manual()
    : page_("trainscope-workload", "a training job to record and measure", "Trainscope") {
  page_.section("SYNOPSIS");
  page_.paragraph("trainscope-workload COMMAND [OPTIONS]");
  page_.section("DESCRIPTION");
  page_.paragraph("Train models in C++ on libtorch: a job to record and measure.");
  page_.section("COMMANDS");
}

void Manual::add(const CommandText& command, const CLI::App& app) {
  page_.subsection(std::string(command.name));
  page_.paragraph(std::string(command.summary));
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    const bool takes_value = option->get_type_size() != 0 && !option->get_positional();
    page_.entry(option->get_name(option->get_positional(), true),
                takes_value ? option->get_type_name() : "", option->get_description());
  }
}

std::string Manual::text() {
  page_.section("EXIT STATUS");
  page_.entry("0", "", "done");
  page_.entry("1", "", "the training failed while it was running");
  page_.entry("2", "", "usage error or bad input");
  page_.section("SEE ALSO");
  page_.paragraph("trainscope(1), trainscope-demo(1)");
  return page_.text();
}

}  // namespace trainscope::workload
