// Exporters: one .cpp in this folder that defines one constant `<stem>_exporter`, a pure function
// from a RunView to bytes. The build lists the folder and generates exporters(); `export --help`
// and the reference pages read that table.
//
// Guarantees: nothing is invented: an absent sample has no value in any format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace trainscope {

struct ExportOptions {
  std::vector<std::string> metrics;  // names, or patterns with *; empty: all
  Range range;                       // begin <= time < end
  // 0: the samples as they are. Otherwise one value per bucket [k x every, (k + 1) x every) that
  // has samples, at its beginning: the last one of a counter or a state, the mean of a gauge.
  int64_t every_ns = 0;
  bool wide = false;  // one column per series, for formats that have columns
  // Counters as rates per second (export/support/series_filter.h); their units get "/s", seconds
  // become 1.
  bool rates = false;
  bool steps = false;  // the steps of the training instead of samples; only `range` applies
};

// Takes the bytes as they come; its error ends the export.
using ExportSink = std::function<Status(std::string_view)>;

// The export of a run that is being recorded, part after part.
//
// Guarantees: at the end exactly the rows were written that an export of the run has, in order of
// time among those that were written together. Rows of the last second are held back: the job may
// have ended before them.
class FollowedExport {
 public:
  virtual ~FollowedExport() = default;
  // The run as it is now: the header and its rows.
  virtual Status begin(const RunView& whole) = 0;
  // A part of the run that has the rows since the last call.
  virtual Status add(const RunView& part) = 0;
  // The run as it is now, in place of a part that does not have all of them: only for steps.
  virtual Status add_whole(const RunView& whole) = 0;
  // Whether the next call must be add_whole().
  virtual bool needs_whole() const = 0;
  // The run has ended: all rows that were not written yet. Returns what is wrong with earlier ones,
  // or "".
  virtual Result<std::string> finish(const RunView& whole) = 0;
};

struct Exporter {
  std::string_view name;       // --to NAME
  std::string_view summary;    // one line for help
  std::string_view extension;  // ".csv"
  bool is_text = true;         // may go to a terminal
  bool has_wide = false;       // understands --wide
  Status (*write)(const RunView& run, const ExportOptions& options,
                  const ExportSink& sink) = nullptr;
  // Null: the format cannot be written part by part. Both arguments must outlive the result.
  std::unique_ptr<FollowedExport> (*follow)(const ExportOptions& options,
                                            const ExportSink& sink) = nullptr;
};

// All exporters, sorted by name. Generated from the folder.
std::span<const Exporter* const> exporters();

}  // namespace trainscope
