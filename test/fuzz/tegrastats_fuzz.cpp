// A line of tegrastats as the importer and the collector read it.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "parse/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto parsed = trainscope::parse_tegrastats(line);
  if (!parsed) return 0;
  for (const trainscope::TegraReading& reading : parsed->readings) {
    CHECK(!reading.metric.empty() && reading.numerator > 0 && reading.denominator > 0);
    for (const auto& [name, value] : reading.labels) {
      CHECK(value.find_first_of(";={}\"\n") == std::string::npos);
    }
  }
  return 0;
}
