// PNG pictures of SVG, by rsvg-convert of librsvg: nothing of ours draws pixels.
#pragma once

#include <string>

#include "base/result.h"

namespace trainscope {

// At 300 dots per inch. An Error if rsvg-convert is not installed, with what installs it, or fails.
Result<std::string> svg_to_png(const std::string& svg);

}  // namespace trainscope
