// What --counter takes: any text is a list of SPECs or an error, and what it names is sound.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "collect/support/counters/counter_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainscope;
  const auto specs = parse_counters(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!specs) {
    CHECK(!specs.error().message().empty());
    return 0;
  }
  CHECK(!specs->empty());
  for (const CounterSpec& spec : *specs) {
    CHECK(!spec.name.empty() && !spec.path.empty() && !spec.type.name.empty());
    CHECK(spec.key.empty() || spec.match.empty());
  }
  return 0;
}
