// Comparisons: two sets of runs in, a Comparison (model/comparison.h) out.
//
// Guarantees: the same runs give the same result; nothing is printed or written. Runs are opened
// one after the other and reduced to at most 512 blocks per metric, so memory does not grow with
// their length; each run takes up to 2 kB per series. Limits: one run per side is a statement about
// those two runs, and the sentences say so. Values of a run that fit into fewer than 8 blocks have
// no interval.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/comparison.h"
#include "model/model.h"

namespace trainscope {

// Which part of each run is compared, after the warm-up: all of it, as long as the shortest run
// lasted, or as many steps as the run with the fewest has.
enum class Align { progress, time, step };

struct CompareOptions {
  Align align = Align::progress;
  // Relative differences up to this are the same; empty: kSameSpeed and kSameMetric.
  std::optional<double> same_within = std::nullopt;
};
inline constexpr double kSameSpeed = 0.02;
inline constexpr double kSameMetric = 0.05;
// Metrics that differ by less than this are the same, however large the ratio is: shares between 0
// and 1, temperatures, and bytes per second.
inline constexpr double kSameShare = 0.01, kSameCelsius = 1, kSameBytesPerS = 100 << 10;

using OpenRun = std::function<Result<std::unique_ptr<RunView>>(const std::string& path)>;

// Both lists have at least one run.
Result<Comparison> compare_runs(const std::vector<std::string>& a,
                                const std::vector<std::string>& b, const CompareOptions& options,
                                const OpenRun& open_run);

// A condition of `--fail-if`: B is slower than A by more than a share of the step time.
struct FailIf {
  double slower = 0;  // 0.05: 5 %
};
// "slower:5%"
Result<FailIf> parse_fail_if(std::string_view text);
// A share of 0 or more: "2%".
Result<double> parse_percent(std::string_view text);

enum class FailIfAnswer { fires, holds, cannot_tell };
FailIfAnswer check_fail_if(const FailIf& condition, const ComparedSpeed& speed);

// A value of a metric in its unit: "75.6 %", "83.7 °C", "12.3 MiB/s".
std::string quantity_text(double value, std::string_view unit);
// A difference with its interval: "+20.0 °C [18.7, 21.3]"; without `low` the difference alone.
std::string difference_text(double difference, std::optional<double> low,
                            std::optional<double> high, std::string_view unit);
// "1.30×"
std::string ratio_text(double ratio);
// "1.30 [1.28, 1.32]", or "1.30× [1.28, 1.32]" with this sign; without `low` the ratio alone.
std::string ratio_text(double ratio, std::optional<double> low, std::optional<double> high,
                       std::string_view sign = "");
// "p < 0.001", "p = 0.42"
std::string p_text(double p);

}  // namespace trainscope
