// A file of pressure stall information (PSI), of the machine or of a cgroup: the totals.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collect/collect.h"
#include "kernel/proc_file.h"

namespace trainscope {

inline constexpr std::array<std::string_view, 3> kPressureResources = {"cpu", "memory", "io"};
inline constexpr std::array<std::string_view, 2> kPressureKinds = {"some", "full"};
// In µs; kAbsent if the text has no such line.
using PressureTotals = std::array<int64_t, kPressureKinds.size()>;

// some avg10=0.00 avg60=0.00 avg300=0.00 total=1234
PressureTotals parse_pressure(std::string_view text);

// The files of all resources in one place.
class PressureFiles {
 public:
  // Opens `prefix` + resource + `suffix` and adds a column of `metric` for each total. An Error is
  // that of the last file that could not be opened.
  Status open(const std::string& prefix, const std::string& suffix, std::string_view metric,
              Opened& opened);
  void sample(std::span<int64_t> values);

 private:
  struct Part {
    size_t resource, kind;
  };
  std::array<ProcFile, kPressureResources.size()> files_;
  std::vector<Part> parts_;
};

}  // namespace trainscope
