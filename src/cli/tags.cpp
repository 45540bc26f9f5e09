#include "cli/tags.h"

#include <fmt/format.h>

#include "base/text.h"

namespace trainscope {

Result<std::map<std::string, std::string>> parse_tags(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> tags;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(fmt::format("'{}' is not of the form key=value", printable(text)));
    }
    const std::string key = text.substr(0, equals);
    if (!tags.emplace(key, text.substr(equals + 1)).second) {
      return Error(fmt::format("'{}' is given twice; a run has one value per key", printable(key)));
    }
  }
  return tags;
}

std::string tags_text(const std::map<std::string, std::string>& tags) {
  std::string text;
  for (const auto& [key, value] : tags) text += (text.empty() ? "" : ", ") + key + "=" + value;
  return text;
}

}  // namespace trainscope
