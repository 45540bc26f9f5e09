// Run ids: eight characters of time, two of chance, in Crockford's base 32 (no i, l, o, u).
//
// Guarantees: as text they sort by time to the millisecond. Limits: the time wraps in 2054.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainscope {

inline constexpr size_t kRunIdLength = 10;

// `chance` gives its lowest ten bits.
std::string make_run_id(int64_t realtime_ns, uint32_t chance);
bool is_run_id(std::string_view text);
// When the id was given; nothing for what is no id.
std::optional<int64_t> run_id_realtime_ns(std::string_view id);

}  // namespace trainscope
