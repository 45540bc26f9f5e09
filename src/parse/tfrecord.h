// TFRecord files: u64 length, masked CRC-32C of it, data, masked CRC-32C of that.
//
// Guarantees: a returned record is complete; an incomplete record is distinguished from a damaged
// one, so that a file can be followed while it is written. Depends only on `base`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

inline constexpr size_t kTfHeaderBytes = 12, kTfFooterBytes = 4;

uint32_t masked_crc32c(std::string_view bytes);
void append_tf_record(std::string& out, std::string_view data);

enum class TfLook { whole, incomplete, damaged };

struct TfRecord {
  TfLook look = TfLook::incomplete;
  std::string_view data;  // of a whole one
  uint64_t length = 0;    // of its data, known from the header on
  size_t bytes() const { return kTfHeaderBytes + length + kTfFooterBytes; }
};

// The record at the beginning of `bytes`, which may end anywhere.
TfRecord look_at_tf_record(std::string_view bytes);

// A number of a TensorBoard event file.
struct EventScalar {
  std::string tag;
  double value = 0;
};
struct ScalarEvent {
  double wall_time_s = 0;
  int64_t step = 0;
  std::vector<EventScalar> scalars;  // empty for events that have none
};
// Nothing if `data` is not an event.
std::optional<ScalarEvent> parse_scalar_event(std::string_view data);

}  // namespace trainscope
