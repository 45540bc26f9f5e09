// Run ids: eight characters of time, two of random bits, in Crockford's base 32 (no i, l, o, u).
//
// Guarantees: as text they sort by time to the millisecond. Limits: the time wraps in 2054.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainscope {

inline constexpr size_t kRunIdLength = 10;

// Uses the lowest ten of the random bits.
std::string make_run_id(int64_t realtime_ns, uint32_t random_bits);
bool is_run_id(std::string_view text);
// When the id was assigned, or nothing if the text is not an id.
std::optional<int64_t> run_id_realtime_ns(std::string_view id);

}  // namespace trainscope
