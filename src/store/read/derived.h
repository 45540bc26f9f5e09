// Series that are not stored but computed from stored ones on reading (marked † in the reference).
//
// Guarantees: a value is there only when all its inputs are, at its row and, for rates, at the row
// before it; a counter that went backwards gives no value there. The same rows give the same
// values whatever range is asked for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/model.h"
#include "store/read/series_directory.h"

namespace trainscope {

struct DerivedSpec;

// Which of a formula's two sums an input belongs to.
enum class InputRole : char { none, numerator, other };

struct DerivedSeries {
  Series series;
  const DerivedSpec* spec = nullptr;
  std::vector<size_t> inputs;    // places in the directory's stored series
  std::vector<InputRole> roles;  // one per input
  double divisor = 1;            // what the formula divides by besides time
};

// All derived series that the stored ones allow, and those they do not, absent with the reason.
std::vector<DerivedSeries> list_derived(const SeriesDirectory& directory,
                                        const std::string& host_json);

// What the computation of a series needs of the row before the next one.
struct DerivedState {
  explicit DerivedState(const DerivedSeries& series)
      : derived(&series), before(series.inputs.size()) {}

  const DerivedSeries* derived;
  std::vector<double> before;  // of each input
  double before_s = 0;
  bool has_before = false;  // there is such a row, and all inputs have a value in it
};

// An input in some rows: one entry per row, or none where it has no value in any of them.
struct InputValues {
  std::span<const double> value;
  std::span<const char> present;
};

// The sums of a formula, one entry per row.
struct RowSums {
  std::vector<double> numerator, other;
  std::vector<char> is_known;
};

// Computes derived series, input by input over many rows. One calculator computes any number of
// series, whose states the caller keeps.
class DerivedCalculator {
 public:
  // The next rows of a series; then all its inputs in their order, then finish.
  void begin(DerivedState& state, std::span<const double> times);
  void add(const InputValues& input);
  // Valid until the next begin.
  const Points& finish();

 private:
  void add_increases(std::span<const double> values, std::span<double> sums, double& before);
  void use_row_before();

  DerivedState* state_ = nullptr;
  size_t input_ = 0;  // the next one
  RowSums sums_;
  std::vector<char> fell_;  // rows in which a counter went backwards; empty: none did
  Points points_;
};

}  // namespace trainscope
