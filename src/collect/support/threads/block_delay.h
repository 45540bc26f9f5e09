// Whether the kernel measures how long threads wait for block devices.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collect/collect.h"

namespace trainscope {

// Why the delay in /proc/PID/stat is always 0; nothing if it is measured. Limits: a thread that was
// there before the setting was changed has no delay either.
std::optional<Missing> missing_block_delay(const std::string& root, std::string_view metric);

}  // namespace trainscope
