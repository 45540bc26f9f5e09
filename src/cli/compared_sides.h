// The sides of a comparison that arguments name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace trainscope {

// The runs of one side: a folder, id or name; repeats as A1,A2, 'NAME*' or repeat-ID.
// "A1,A2" are repeats, unless a run has this very name or path.
Result<std::vector<std::string>> side_paths(const std::string& home, const std::string& text);

}  // namespace trainscope
