// How --help looks: what to type first, then usage, arguments and options.
//
// The headings are those that help2man turns into sections.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace trainscope {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
};

// What stands behind "Usage: " for a subcommand: "trainscope run [OPTIONS] -- COMMAND…".
std::string usage_line(const CLI::App& app);

// The words that an option or argument may be, from its CLI::IsMember; empty when anything goes.
std::vector<std::string> choices_of(const CLI::Option& option);
// Its type name without the choices: "RUN", "DURATION", "" for a flag.
std::string value_name(const CLI::Option& option);

}  // namespace trainscope
