#include "collect/support/devices/mmpmon.h"

#include "collect/collect.h"
#include "kernel/proc_file.h"

namespace trainscope {

namespace {

// The word after a key; empty if there is none.
std::string_view word_after(std::string_view line, std::string_view key) {
  Scanner scan(line);
  for (;;) {
    const std::string_view word = scan.word();
    if (word.empty()) return {};
    if (word == key) return scan.word();
  }
}

}  // namespace

std::optional<MmpmonLine> parse_mmpmon(std::string_view line) {
  MmpmonLine parsed{word_after(line, "_fs_"), {}};
  if (parsed.fs.empty()) return std::nullopt;
  parsed.values.fill(kAbsent);
  for (size_t i = 0; i < kMmpmonCounters.size(); ++i) {
    Scanner(word_after(line, kMmpmonCounters[i].key)).number(parsed.values[i]);
  }
  return parsed;
}

}  // namespace trainscope
