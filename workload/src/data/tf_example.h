// tf.train.Example, the message inside most TFRecords: named lists of byte strings or whole
// numbers.
//
// Guarantees: any bytes may be given; damage is an error. Nothing is copied: what
// comes out points into the bytes given.
// Limits: of a list only the first entry is kept; lists of floats are passed over.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainscope::workload {

struct TfExample {
  std::map<std::string_view, std::span<const std::uint8_t>> bytes;
  std::map<std::string_view, std::int64_t> numbers;
};

Result<TfExample> parse_tf_example(std::span<const std::uint8_t> message);

}  // namespace trainscope::workload
