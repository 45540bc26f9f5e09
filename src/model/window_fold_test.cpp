#include "model/window_fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace trainscope {
namespace window_fold_test {

constexpr TimeWindows kWindows = {0, 1.7, 40};

// A counter that is reset now and then, with values that are absent and a gap; no value is at the
// edge of a window.
Points random_points() {
  std::mt19937 random(3);
  Points points;
  double value = 0;
  for (int i = 0; i < 600; ++i) {
    if (i >= 200 && i < 290) continue;
    value = random() % 50 == 0 ? 0 : value + static_cast<double>(random() % 100);
    points.time_s.push_back(0.1 * i + 0.03);
    points.value.push_back(value);
    points.present.push_back(random() % 10 == 0 ? 0 : 1);
  }
  return points;
}

Points part_of(const Points& points, size_t from, size_t to) {
  Points part;
  for (size_t i = from; i < to; ++i) {
    part.time_s.push_back(points.time_s[i]);
    part.value.push_back(points.value[i]);
    part.present.push_back(points.present[i]);
  }
  return part;
}

void expect_same(const WindowFold& found, const WindowFold& expected, const std::string& what) {
  for (size_t w = 0; w < kWindows.count; ++w) {
    ASSERT_EQ(found.at(w).has_value(), expected.at(w).has_value()) << what << ", window " << w;
    EXPECT_NEAR(found.weight(w), expected.weight(w), 1e-9) << what << ", window " << w;
    if (!found.at(w)) continue;
    EXPECT_NEAR(*found.at(w), *expected.at(w), 1e-9 * std::abs(*expected.at(w)) + 1e-12);
    EXPECT_EQ(found.min(w), expected.min(w)) << what << ", window " << w;
    EXPECT_EQ(found.max(w), expected.max(w)) << what << ", window " << w;
  }
}

// Wherever the time is divided: in a gap, at absent values, within a window.
TEST(WindowFold, parts_that_are_appended_are_the_whole) {
  const Points points = random_points();
  const size_t rows = points.time_s.size();
  for (const Reading reading : {Reading::level, Reading::rate}) {
    WindowFold whole(kWindows, reading, true);
    whole.add(points);
    for (size_t cut = 0; cut <= rows; cut += 3) {
      WindowFold together(kWindows, reading, true);
      const size_t middle = (cut + rows) / 2;
      const size_t ends[] = {0, cut, middle, rows};
      for (size_t part = 0; part < 3; ++part) {
        const Points some = part_of(points, ends[part], ends[part + 1]);
        const double begin_s = some.time_s.empty() ? 0 : some.time_s.front();
        const auto first = static_cast<size_t>(begin_s / kWindows.length_s);
        WindowFold fold({kWindows.edge_s(first), kWindows.length_s, kWindows.count - first},
                        reading, true);
        fold.add(some);
        together.append(fold, first);
      }
      expect_same(together, whole, "cut at " + std::to_string(cut));
    }
  }
}

}  // namespace window_fold_test
}  // namespace trainscope
