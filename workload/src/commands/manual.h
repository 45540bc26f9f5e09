// trainscope-workload(1), written from the table of its options.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace trainscope::workload {

// Adds the hidden option --man: parsing stops there with the page as what to print.
void add_manual_option(CLI::App& app);

}  // namespace trainscope::workload
