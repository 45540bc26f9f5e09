// Why a run must not be changed or removed now.
#pragma once

#include <string>

namespace trainscope {

// "ID is being recorded"; "" when nobody records it. With `force`, a run of another host counts as
// ended: whether it is recorded there cannot be known for sure.
std::string reason_in_use(const std::string& run_path, bool force);

}  // namespace trainscope
