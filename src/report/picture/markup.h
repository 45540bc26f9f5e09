// Text of SVG and HTML. Guarantees: a text from a run (a name, a label, a command) never becomes
// markup, and contains no control character; numbers do not depend on the locale.
#pragma once

#include <string>
#include <string_view>

namespace trainscope {

// For text between tags and in quoted attributes.
std::string escaped(std::string_view text);

// A coordinate: at most two decimals, no zeros at the end.
std::string coordinate(double value);

}  // namespace trainscope
