// Help and usage errors of trainscope-workload, laid out as those of trainscope.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace trainscope::workload {

struct CommandText {
  std::string_view name, summary, examples;
};

// A name and its meaning.
struct HelpRow {
  std::string name, help;
};

std::string program_help(std::span<const CommandText> commands);

// Examples, usage, arguments and options; `rows` under `title` follow if there are any.
std::string command_help(const CommandText& command, const CLI::App& app, std::string_view title,
                         const std::vector<HelpRow>& rows);

// "trainscope-workload: MESSAGE", and where help is. `command` may be empty.
std::string usage_error(const std::string& message, std::string_view command);

}  // namespace trainscope::workload
