// Measures the limits of this machine, for `doctor --measure`: one .cpp in this folder per kind of
// limit, which defines one constant `<stem>_limits`. The build lists the folder and generates
// limit_kinds().
//
// Guarantees: nothing is measured unless measure_limits() is called; buffers take at most an eighth
// of the free memory, and file systems in memory are not measured; the large scratch file has no
// name, so that it is gone when the process is; the folder of empty files has one, and is removed
// also after every signal that can be held. What cannot be measured is in `missing`. Limits: a busy
// machine gives less than its limits, so the best of several rounds counts where a round is short;
// after SIGKILL, or on a file system that hangs, the folder remains until the next measurement.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/limits.h"

namespace trainscope {

struct MeasureOptions {
  std::string data_folder;            // where the data lies: storage is measured there
  std::vector<std::string> only;      // names of kinds; empty: all
  int64_t each_ns = 1500 * kNsPerMs;  // time for each number
  int64_t scratch_bytes = int64_t{1} << 30;
  // Called with what is measured next; empty: progress is not reported.
  std::function<void(const std::string& what)> progress;
};

struct LimitKind {
  std::string_view name;     // "disk", as --only takes it
  std::string_view summary;  // one line for help and reference
  // The first reason why nothing can be measured that the user can remove; null: there is none.
  Status (*check)(const MeasureOptions& options) = nullptr;
  // Adds to both lists. An Error only if it was interrupted.
  Status (*measure)(const MeasureOptions& options, MachineLimits& found) = nullptr;
};

// All kinds, sorted by name. Generated from the folder.
std::span<const LimitKind* const> limit_kinds();

// Checks every kind before it measures the first.
Result<MachineLimits> measure_limits(const MeasureOptions& options);

}  // namespace trainscope
