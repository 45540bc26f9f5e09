// Paths with * ? and [ ], as a shell expands them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

bool is_path_pattern(std::string_view path);

// The absolute paths that match and exist, sorted, at most `most`. `root` is the prefix of examined
// paths, not of returned ones. A path for which `may_enter` is false is not accessed.
std::vector<std::string> expand_path(const std::string& root, const std::string& pattern,
                                     size_t most,
                                     const std::function<bool(const std::string&)>& may_enter);

}  // namespace trainscope
