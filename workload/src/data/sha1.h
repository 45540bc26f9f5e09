// SHA-1 (FIPS 180-4), by which retrain.py decides which set an image is in.
// Limits: not for secrets; one piece of text at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace trainscope::workload {

std::array<std::uint8_t, 20> sha1(std::string_view text);

}  // namespace trainscope::workload
