// Exporters: one .cpp in this folder that defines one constant `<stem>_exporter`, a pure function
// from a RunView to bytes. The build lists the folder and generates exporters(); `export --help`
// and the reference pages read that table.
//
// Guarantees: nothing is invented: an absent sample has no value in any format.
#pragma once

#include <cstdint>
#include <functional>
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
};

// Takes the bytes as they come; its error ends the export.
using ExportSink = std::function<Status(std::string_view)>;

struct Exporter {
  std::string_view name;       // --to NAME
  std::string_view summary;    // one line for help
  std::string_view extension;  // ".csv"
  bool is_text = true;         // may go to a terminal
  bool has_wide = false;       // understands --wide
  Status (*write)(const RunView& run, const ExportOptions& options,
                  const ExportSink& sink) = nullptr;
};

// All exporters, sorted by name. Generated from the folder.
std::span<const Exporter* const> exporters();

}  // namespace trainscope
