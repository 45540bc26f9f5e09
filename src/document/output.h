// Lines of the job's output around a time.
//
// The recorder stores the output without times (docs/run-format.md). Lines in which printed steps
// were found have the time of their step; the times of lines between two of them are interpolated,
// and the document says that they are estimated.
//
// Guarantees: memory does not grow with the output: one place per kilobyte or so is kept. Limits:
// lines longer than 2,000 bytes are cut; of what is drawn over a line (\r) the last part is shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "model/model.h"

namespace trainscope {

class OutputIndex {
 public:
  // Reads all of the output once.
  static Result<OutputIndex> read(const RunView& run);

  // The lines around a time, or the last ones without it: {lines[], at, more_before, more_after,
  // times}.
  Result<Json> lines(std::optional<double> at_s, size_t count) const;
  // Of all files when they were read.
  size_t bytes() const { return bytes_; }

 private:
  struct Place {
    size_t file = 0, offset = 0, line = 0;
  };
  struct Anchor {
    size_t line = 0;
    double time_s = 0;
  };
  std::optional<double> time_of(size_t line) const;
  size_t line_at(double time_s) const;
  Result<std::vector<std::string>> read_lines(size_t first, size_t count) const;

  std::vector<std::string> paths_;
  std::vector<Place> places_;    // of every so many lines
  std::vector<Anchor> anchors_;  // lines whose time is known
  size_t lines_ = 0, bytes_ = 0;
};

}  // namespace trainscope
