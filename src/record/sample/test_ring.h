// For tests: the content of a ring, as text.
#pragma once

#include <string>
#include <vector>

#include "record/sample/ring.h"

namespace trainscope {

// All texts of a kind; they stay in the ring.
inline std::vector<std::string> texts_in(const Ring& ring, RecordKind kind) {
  std::vector<std::string> texts;
  ring.visit(ring.tail(), [&](const RecordHeader& header) {
    if (header.kind == kind) {
      texts.emplace_back(reinterpret_cast<const TextRecord&>(header).text());
    }
    return true;
  });
  return texts;
}

// The lines of all reports, without the number that each batch begins with; the ring is empty then.
inline std::string take_reports(Ring& ring) {
  std::string lines;
  for (const std::string& text : texts_in(ring, RecordKind::step)) {
    lines += text.substr(text.find('\n') + 1);
  }
  ring.release(ring.head());
  return lines;
}

}  // namespace trainscope
