// Lines of the job's output around a time.
//
// A line has the time at which the recorder read its last byte, to the tenth of a second or so
// (docs/run-format.md); that of a printed step is exact. Runs of earlier versions have no such
// times: there, lines in which printed steps were found have the time of their step, the times of
// lines between two of them are interpolated, and the document says that they are estimated.
//
// Guarantees: memory does not grow with the output: one place per kilobyte or so is kept, and one
// time per record. Limits: lines longer than 2,000 bytes are cut; of what is drawn over a line (\r)
// the last part is shown.
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
  // A line was read from this time on, and less than so much later.
  struct LineTime {
    double time_s = 0, within_s = 0;
  };

  // Reads all of the output once.
  static Result<OutputIndex> read(const RunView& run);

  // The lines around a time, or the last ones without it: {lines[], at, more_before, more_after,
  // times, within_s, late}.
  Result<Json> lines(std::optional<double> at_s, size_t count) const;
  // Of all files when they were read.
  size_t bytes() const { return bytes_; }

 private:
  struct File {
    std::string path;
    size_t bytes = 0;  // that were there; later ones are not read
  };
  struct Place {
    size_t file = 0, offset = 0, line = 0;
  };
  // A line whose time is known. One that the recorder dated has that of the lines up to the next.
  struct Anchor {
    size_t line = 0;
    double time_s = 0;
    double within_s = 0;   // it was read less than so much later
    bool is_known = true;  // no: the lines from here on have no time; this is that of earlier ones
  };
  enum class Times { unknown, estimated, read };

  void add_read_time(const std::optional<LineTime>& time, std::optional<double> printed_s);
  Times times() const;
  const Anchor* anchor_of(size_t line) const;
  std::optional<double> time_of(size_t line) const;
  Json within_s(size_t first, size_t count) const;
  size_t line_at(double time_s) const;
  Result<std::vector<std::string>> read_lines(size_t first, size_t count) const;

  std::vector<File> files_;
  std::vector<Place> places_;    // of every so many lines
  std::vector<Anchor> anchors_;  // in order of line and time
  bool is_dated_ = false;        // by the recorder
  std::string late_;             // why it may have read lines late
  size_t lines_ = 0, bytes_ = 0;
};

}  // namespace trainscope
