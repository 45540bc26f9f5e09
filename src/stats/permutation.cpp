// A permutation test of blocks or runs: how often a random division into two sides has a
// studentised difference at least as large. Studentised, it stays valid if the sides vary
// unequally.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "stats/run_means.h"
#include "stats/stats.h"

namespace trainscope {
namespace {

constexpr size_t kFewestPerSide = 4, kMostPerSide = 64;
constexpr size_t kMostEnumerated = 14;  // units; 2^14 divisions
constexpr size_t kPermutations = 1999;
// Neighbouring blocks of the length that is best for a bootstrap are still correlated; permuting
// them claims a difference in 9 % of equal pairs instead of 5 %.
constexpr double kBootstrapLengths = 3;

// SplitMix64: the same numbers on every machine, which standard distributions do not promise.
class RandomNumbers {
 public:
  explicit RandomNumbers(uint64_t seed) : state_(seed) {}
  size_t below(size_t bound) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return static_cast<size_t>(bits % bound);  // Its bias is below 1e-17.
  }

 private:
  uint64_t state_;
};

// Means of blocks of `length` neighbours.
void append_long_blocks(const Observed& run, size_t length, std::vector<double>& units) {
  const size_t blocks = std::max<size_t>(1, run.means.size() / length);
  for (size_t block = 0; block < blocks; ++block) {
    const size_t begin = block * run.means.size() / blocks;
    const size_t end = (block + 1) * run.means.size() / blocks;
    Observed part;
    part.means.assign(run.means.begin() + static_cast<std::ptrdiff_t>(begin),
                      run.means.begin() + static_cast<std::ptrdiff_t>(end));
    if (!run.weights.empty())
      part.weights.assign(run.weights.begin() + static_cast<std::ptrdiff_t>(begin),
                          run.weights.begin() + static_cast<std::ptrdiff_t>(end));
    units.push_back(weighted_mean(part));
  }
}

size_t independent_length(std::span<const Observed> a, std::span<const Observed> b) {
  double length = 1;
  for (const auto runs : {a, b}) {
    size_t blocks = 0;
    for (const Observed& run : runs) {
      length = std::max(length, kBootstrapLengths * block_length(run.means));
      blocks += run.means.size();
    }
    length = std::max(length, static_cast<double>(blocks) / static_cast<double>(kMostPerSide));
  }
  return static_cast<size_t>(std::ceil(length));
}

// Sums over one side of a division.
struct Sums {
  double count = 0, sum = 0, squares = 0;
  void add(double value) {
    count += 1;
    sum += value;
    squares += value * value;
  }
  double mean() const { return sum / count; }
  double error_square() const {
    return std::max(0.0, squares - sum * sum / count) / (count - 1) / count;
  }
};

double statistic(const Sums& a, const Sums& b) {
  const double distance = std::abs(a.mean() - b.mean());
  const double error = std::sqrt(a.error_square() + b.error_square());
  if (error > 0) return distance / error;
  return distance > 0 ? std::numeric_limits<double>::infinity() : 0;
}

// `units`: those of a first.
double enumerate_divisions(std::span<const double> units, size_t of_a) {
  const auto statistic_of = [&](unsigned chosen) {
    Sums a, b;
    for (size_t i = 0; i < units.size(); ++i) ((chosen >> i & 1U) != 0 ? a : b).add(units[i]);
    return statistic(a, b);
  };
  const double observed = statistic_of((1U << of_a) - 1) * (1 - 1e-12);  // Ties are as large.
  double as_large = 0, all = 0;
  for (unsigned chosen = 0; chosen < 1U << units.size(); ++chosen) {
    if (static_cast<size_t>(std::popcount(chosen)) != of_a) continue;
    all += 1;
    if (statistic_of(chosen) >= observed) as_large += 1;
  }
  return as_large / all;
}

double shuffle_divisions(std::vector<double> units, size_t of_a, uint64_t seed) {
  const auto statistic_now = [&] {
    Sums a, b;
    for (size_t i = 0; i < units.size(); ++i) (i < of_a ? a : b).add(units[i]);
    return statistic(a, b);
  };
  const double observed = statistic_now() * (1 - 1e-12);
  RandomNumbers random(seed);
  size_t as_large = 1;  // the division that was observed
  for (size_t round = 0; round < kPermutations; ++round) {
    for (size_t i = 0; i < of_a; ++i)
      std::swap(units[i], units[i + random.below(units.size() - i)]);
    if (statistic_now() >= observed) ++as_large;
  }
  return static_cast<double>(as_large) / static_cast<double>(kPermutations + 1);
}

}  // namespace

std::optional<double> permutation_p(std::span<const Observed> a, std::span<const Observed> b,
                                    const Question& question) {
  const auto has_mean = [](const Observed& run) { return is_usable(run.means); };
  if (!std::ranges::all_of(a, has_mean) || !std::ranges::all_of(b, has_mean)) return std::nullopt;
  std::vector<double> units;
  size_t of_a = 0;
  if (a.size() >= 2 && b.size() >= 2) {
    units = run_means(a);
    of_a = units.size();
    for (const double mean : run_means(b)) units.push_back(mean);
  } else {
    const size_t length = independent_length(a, b);
    for (const Observed& run : a) append_long_blocks(run, length, units);
    of_a = units.size();
    for (const Observed& run : b) append_long_blocks(run, length, units);
    if (of_a < kFewestPerSide || units.size() - of_a < kFewestPerSide) return std::nullopt;
  }
  // Around their mean: squares of far numbers would lose their differences.
  double mean = 0;
  for (const double unit : units) mean += unit / static_cast<double>(units.size());
  for (double& unit : units) unit -= mean;
  if (units.size() <= kMostEnumerated) return enumerate_divisions(units, of_a);
  return shuffle_divisions(std::move(units), of_a, question.seed);
}

}  // namespace trainscope
