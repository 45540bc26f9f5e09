// The name of this machine and of its processors.
#pragma once

#include <cstdint>
#include <string>

namespace trainscope {

std::string host_name();

// What the kernel calls its processors, or the board where it does not; "" if it is unknown. `root`
// is the prefix of /proc.
std::string processor_model(const std::string& root);
int64_t online_processors();

}  // namespace trainscope
