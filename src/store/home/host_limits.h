// The limits of machines that `doctor --measure` found, in the home: limits/HOST.json.
//
// Guarantees: a reader sees the old file or the new one, never half. A home may be shared, so each
// host has its own file.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/limits.h"

namespace trainscope {

std::string host_limits_path(const std::string& home, const std::string& host);
// Nothing if this host was never measured; a damaged file is an Error that names it.
Result<std::optional<MachineLimits>> read_host_limits(const std::string& home,
                                                      const std::string& host);
// Creates the home if it does not exist.
Status write_host_limits(const std::string& home, const MachineLimits& limits);

}  // namespace trainscope
