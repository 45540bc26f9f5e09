// Folders of a home.
#pragma once

#include <string>

#include "base/result.h"

namespace trainscope {

// Creates every missing folder of the path, for the owner alone.
Status make_folders(const std::string& path);

}  // namespace trainscope
