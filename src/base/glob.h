// Patterns of names as a shell knows them: * ? [a-z] [!a-z].
//
// Guarantees: time grows with pattern × text, whatever the pattern. Limits: ? is a byte; nothing
// escapes a wildcard.
#pragma once

#include <string_view>

namespace trainscope {

bool is_glob(std::string_view text);

// Does the pattern match the whole text? Without a wildcard it is the text itself.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace trainscope
