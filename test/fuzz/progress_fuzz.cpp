// A line of training progress: what is read is written back the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "training/training.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto report = trainscope::parse_report(line);
  if (!report) return 0;
  const std::string text = trainscope::format_report(*report);
  const auto again = trainscope::parse_report(text);
  CHECK(static_cast<bool>(again));
  CHECK(trainscope::format_report(*again) == text);
  return 0;
}
