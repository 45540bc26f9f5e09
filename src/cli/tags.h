// Tags as people give them: KEY=VALUE, one value per key.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainscope {

// An Error for a text that is not of the form key=value, and for a key that is given twice.
Result<std::map<std::string, std::string>> parse_tags(const std::vector<std::string>& texts);

// "lr=0.1, batch=64"
std::string tags_text(const std::map<std::string, std::string>& tags);

}  // namespace trainscope
