// Settings that are on or off: TRAINSCOPE_INSTRUMENT=1 means what --instrument means.
#pragma once

#include <string_view>

#include "model/manifest.h"

namespace trainscope {

// true, 1, yes and on in any case.
bool means_on(std::string_view text);
// Whether the run was recorded with this setting. Manifests have it as it was written.
bool is_on(const Manifest& manifest, std::string_view setting);

}  // namespace trainscope
