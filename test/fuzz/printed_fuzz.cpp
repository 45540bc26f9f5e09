// What a job prints, searched for steps.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "record/intake/printed.h"
#include "record/intake/steps_guess.h"
#include "record/record.h"
#include "training/training.h"

using namespace trainscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static SharedMemory memory = *SharedMemory::create(1 << 20);
  static Ring ring(memory);
  ProgressSink sink(ring, memory);
  MatchingBudget budget(0, [] { return int64_t{0}; });  // no line is left out
  StepsGuess guess;
  PrintedSteps printed(sink, "", budget, nullptr, &guess);
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // In two pieces, as a pipe may give them.
  printed.take(bytes.substr(0, size / 2), 1000);
  printed.take(bytes.substr(size / 2), 2000);
  printed.finish();
  // A guessed pattern is one that --steps-from accepts.
  const std::string pattern = guess.pattern();
  CHECK(pattern.empty() || static_cast<bool>(check_steps_pattern(pattern)));
  // Whatever was found can be stored and read back.
  ring.visit(ring.tail(), [](const RecordHeader& header) {
    std::string_view text = reinterpret_cast<const TextRecord&>(header).text();
    text.remove_prefix(text.find('\n') + 1);
    StoredReport stored;
    while (header.kind == RecordKind::step && !text.empty()) {
      const size_t end = text.find('\n');
      CHECK(static_cast<bool>(parse_stored_report(text.substr(0, end), stored)));
      text.remove_prefix(end + 1);
    }
    return true;
  });
  ring.release(ring.head());
  return 0;
}
