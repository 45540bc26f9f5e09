// Many varints at once, eight bytes at a time. Used by the codec alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace trainscope {

// Takes one difference after another off the front and adds them up. False when the bytes end or a
// varint is too long.
bool take_deltas(std::string_view& in, std::span<int64_t> out);
// Takes so many off the front, unread.
bool skip_varints(std::string_view& in, size_t count);

}  // namespace trainscope
