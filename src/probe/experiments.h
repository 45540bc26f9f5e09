// The names of what a probe changes, as marks and JSON have them.
#pragma once

#include <string_view>

namespace trainscope {

inline constexpr std::string_view kInput = "input", kHost = "host", kProcessors = "processors";
inline constexpr std::string_view kExperiments[] = {kInput, kHost, kProcessors};

}  // namespace trainscope
