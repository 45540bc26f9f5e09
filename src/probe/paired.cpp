#include "probe/paired.h"

#include <algorithm>
#include <cmath>

namespace trainscope {

namespace {

constexpr double kTail = 0.025;
constexpr double kNormalQuantile = 1.959963985;
constexpr size_t kExactPairs = 60;

// Means of neighbours, so that at most kMostPairs are left.
std::vector<double> thinned(const std::vector<double>& all) {
  const size_t group = (all.size() + kMostPairs - 1) / kMostPairs;
  if (group < 2) return all;
  std::vector<double> means;
  for (size_t i = 0; i + group <= all.size(); i += group) {
    double sum = 0;
    for (size_t k = i; k < i + group; ++k) sum += all[k];
    means.push_back(sum / static_cast<double>(group));
  }
  return means;
}

// How many of the ordered means of pairs are outside the interval at each end: the largest c with
// P(W <= c) <= kTail, plus 1, where W is the sum of the positive ranks; 0: there is no interval.
size_t outside_count(size_t n) {
  const size_t most = n * (n + 1) / 2;
  if (n > kExactPairs) {
    const auto count = static_cast<double>(n);
    const double mean = count * (count + 1) / 4;
    const double deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
    return static_cast<size_t>(std::floor(mean - kNormalQuantile * deviation));
  }
  // The probability of each sum: each rank is positive or negative alike.
  std::vector<double> probability(most + 1, 0);
  probability[0] = 1;
  for (size_t rank = 1; rank <= n; ++rank) {
    for (size_t sum = most + 1; sum-- > 0;) {
      const double without = probability[sum] / 2;
      probability[sum] = without + (sum >= rank ? probability[sum - rank] / 2 : 0);
    }
  }
  double below = 0;
  size_t count = 0;
  while (count <= most && below + probability[count] <= kTail) below += probability[count++];
  return count;
}

}  // namespace

std::optional<PairedInterval> paired_interval(std::vector<double> differences) {
  differences = thinned(differences);
  const size_t n = differences.size();
  const size_t outside = outside_count(n);
  if (outside == 0) return std::nullopt;
  std::vector<double> means;
  means.reserve(n * (n + 1) / 2);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = i; k < n; ++k) means.push_back((differences[i] + differences[k]) / 2);
  }
  std::sort(means.begin(), means.end());
  const size_t middle = means.size() / 2;
  const double estimate =
      means.size() % 2 == 1 ? means[middle] : (means[middle - 1] + means[middle]) / 2;
  return PairedInterval{estimate, means[outside - 1], means[means.size() - outside]};
}

}  // namespace trainscope
