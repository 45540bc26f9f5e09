#include "cli/options.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/cli.h"

namespace trainscope {

std::vector<std::string> Option::names() const {
  std::vector<std::string> names;
  for (const std::string_view one : split(name, ',')) names.emplace_back(one);
  return names;
}

std::string Option::value_text() const {
  return choices.empty() ? value : fmt::format("{}", fmt::join(choices, "|"));
}

std::string Option::label() const {
  const std::string text = value_text();
  return text.empty() || text == name ? name : name + " " + text;
}

std::function<void(const std::string&)> store_in(std::string& target) {
  return [&target](const std::string& value) { target = value; };
}

std::function<void(const std::string&)> store_in(std::vector<std::string>& target) {
  return [&target](const std::string& value) { target.push_back(value); };
}

std::function<void(const std::string&)> store_in(bool& target) {
  return [&target](const std::string& /*value*/) { target = true; };
}

Option& Options::add(Option option) {
  all_.push_back(std::move(option));
  return all_.back();
}

const Option* Options::find(std::string_view name) const {
  for (const Option& option : all_) {
    for (const std::string& one : option.names()) {
      if (one == name) return &option;
    }
  }
  return nullptr;
}

std::vector<CommandOptions> describe_commands(const Settings& settings) {
  std::vector<CommandOptions> described;
  for (const Command* command : commands()) {
    if (command->hidden) continue;
    auto options = std::make_shared<Options>();
    command->add(*options, settings);
    described.push_back({command, std::move(options)});
  }
  return described;
}

}  // namespace trainscope
