// A SPEC up to the first zero byte, then what the file holds: a number comes out, or a reason.
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "collect/support/counters/counter_row.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainscope;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t zero = all.find('\0');
  const std::string_view content =
      zero == std::string_view::npos ? std::string_view() : all.substr(zero + 1);
  const auto specs = parse_counters(all.substr(0, zero));
  if (!specs) return 0;
  for (const CounterSpec& spec : *specs) {
    std::unique_ptr<RowPattern> pattern;
    if (!spec.match.empty()) {
      auto compiled = RowPattern::compile(spec.match);
      CHECK(compiled);  // the SPEC was accepted
      pattern = std::make_unique<RowPattern>(std::move(*compiled));
    }
    for (const bool newline_expected : {false, true}) {
      CounterText text;
      text.assign(content, newline_expected);
      uint64_t bits = 0;
      Extraction how = Extraction::no_row;
      if (spec.type.binary_bytes == 0) {
        how = extract(spec, pattern.get(), text, bits);
      } else if (spec.offset < content.size()) {
        how = extract_binary(spec.type, content.substr(spec.offset), bits);
      }
      CHECK((how == Extraction::found) == extraction_error_text(spec, how).empty());
      if (how == Extraction::found) stored_value(spec.type, bits, 0);
    }
  }
  return 0;
}
