// The bytes of a TensorBoard event file, as they lie on the disk while it is written.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "parse/parse.h"

using namespace trainscope;

// What a record holds is read as it is too: no fuzzer guesses a CRC.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  parse_scalar_event(bytes);
  std::string whole;
  append_tf_record(whole, bytes);
  const TfRecord back = look_at_tf_record(whole);
  CHECK(back.look == TfLook::whole && back.data == bytes && back.bytes() == whole.size());
  while (!bytes.empty()) {
    const TfRecord record = look_at_tf_record(bytes);
    if (record.look != TfLook::whole) break;
    CHECK(record.bytes() <= bytes.size());
    parse_scalar_event(record.data);
    bytes.remove_prefix(record.bytes());
  }
  return 0;
}
