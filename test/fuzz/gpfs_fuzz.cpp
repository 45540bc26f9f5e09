// A reply of mmpmon as the gpfs collector reads it.
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "collect/collect.h"
#include "collect/support/devices/mmpmon.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view reply(reinterpret_cast<const char*>(data), size);
  for (const std::string_view line : trainscope::split(reply, '\n')) {
    const auto parsed = trainscope::parse_mmpmon(line);
    if (!parsed) continue;
    CHECK(!parsed->fs.empty() && parsed->fs.find_first_of(" \t\n") == std::string_view::npos);
    for (const int64_t value : parsed->values) CHECK(value >= 0 || value == trainscope::kAbsent);
  }
  return 0;
}
