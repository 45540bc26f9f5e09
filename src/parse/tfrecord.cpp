#include "parse/tfrecord.h"

#include <cstring>

#include "base/crc32c.h"

namespace trainscope {

namespace {

constexpr uint32_t kMaskDelta = 0xa282ead8;

template <typename Number>
Number read_little(std::string_view bytes) {
  Number value = 0;
  for (size_t i = sizeof value; i > 0; --i) {
    value = static_cast<Number>(value << 8U) | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

template <typename Number>
void append_little(std::string& out, Number value) {
  for (size_t i = 0; i < sizeof value; ++i) {
    out += static_cast<char>((value >> (8 * i)) & 0xffU);
  }
}

}  // namespace

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t sum = crc32c(bytes);
  return ((sum >> 15U) | (sum << 17U)) + kMaskDelta;
}

void append_tf_record(std::string& out, std::string_view data) {
  const size_t begin = out.size();
  append_little(out, static_cast<uint64_t>(data.size()));
  append_little(out, masked_crc32c(std::string_view(out).substr(begin)));
  out += data;
  append_little(out, masked_crc32c(data));
}

TfRecord look_at_tf_record(std::string_view bytes) {
  TfRecord record;
  if (bytes.size() < kTfHeaderBytes) return record;
  if (masked_crc32c(bytes.substr(0, 8)) != read_little<uint32_t>(bytes.substr(8))) {
    record.look = TfLook::damaged;
    return record;
  }
  record.length = read_little<uint64_t>(bytes);
  const size_t left = bytes.size() - kTfHeaderBytes;
  if (left < kTfFooterBytes || record.length > left - kTfFooterBytes) return record;
  const std::string_view data = bytes.substr(kTfHeaderBytes, record.length);
  const bool same =
      masked_crc32c(data) == read_little<uint32_t>(bytes.substr(kTfHeaderBytes + record.length));
  record.look = same ? TfLook::whole : TfLook::damaged;
  if (same) record.data = data;
  return record;
}

}  // namespace trainscope
