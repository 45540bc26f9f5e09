// Series reduced to windows over the whole time of a run, kept in memory: a chart of any width is
// answered without decoding days of values again.
//
// Guarantees: the windows of a series have the sum, the smallest and the largest of all its values
// or rates, whatever their width. Of a run that is being recorded only what is new is read. Memory
// has a limit; what was not used for longest is dropped. May be used from several threads. Limits:
// the first query of a series reads all its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace trainscope {

// The values of a window, or the rates between two of them: `weight` is what the mean is of.
struct FoldedWindow {
  double sum = 0, weight = 0, min = 0, max = 0;

  bool is_empty() const { return !(weight > 0); }
  void add(const FoldedWindow& more);
};

// Equal windows from `begin_s` on.
struct FoldedSeries {
  double begin_s = 0, window_s = 0;
  std::vector<FoldedWindow> windows;

  double middle_s(size_t window) const {
    return begin_s + window_s * (static_cast<double>(window) + 0.5);
  }
};

// How many windows from t = 0 on have everything up to the end of a run, its last instant included.
size_t windows_to(double duration_s, double window_s);

// The longest time between two samples of some series, as they were due; those of the training
// have none.
double longest_period_s(const RunView& run, const std::vector<size_t>& series);

// Of series of a run, in their order. An interval of a counter that reaches over the first or the
// last edge and has its middle within is counted, unless samples were missed there.
Result<std::vector<FoldedSeries>> fold_series(const RunView& run,
                                              const std::vector<WindowQuery>& queries,
                                              const TimeWindows& windows);

class Overviews {
 public:
  static constexpr size_t kMostWindows = 16384;  // of a series; and half as many at least

  explicit Overviews(size_t limit_bytes = size_t{48} << 20) : limit_bytes_(limit_bytes) {}

  using Overview = std::shared_ptr<const FoldedSeries>;
  // Windows from t = 0 to the end of the run, of all the same width.
  Result<std::vector<Overview>> of(const RunView& run, const std::vector<WindowQuery>& queries);

 private:
  struct Kept {
    Overview overview;  // windows that are complete
    std::list<std::string>::iterator used;
  };
  Overview find(const std::string& key);
  void keep(const std::string& key, const Overview& overview);

  const size_t limit_bytes_;
  std::mutex mutex_;
  size_t bytes_ = 0;
  std::map<std::string, Kept> kept_;
  std::list<std::string> used_;  // keys, the one that was used last at the end
};

}  // namespace trainscope
