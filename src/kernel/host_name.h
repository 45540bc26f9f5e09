// The name of this machine.
#pragma once

#include <string>

namespace trainscope {

std::string host_name();

}  // namespace trainscope
