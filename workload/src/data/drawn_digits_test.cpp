#include "data/drawn_digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace trainscope::workload {
namespace {

constexpr std::size_t kPixels = 784;

std::vector<std::uint8_t> image(const ImageSet& set, std::size_t index) {
  const auto begin = set.pixels.begin() + static_cast<std::ptrdiff_t>(index * kPixels);
  return {begin, begin + kPixels};
}

TEST(DrawnDigits, same_seed_same_images) {
  const ImageSet first = draw_digits(50, 7);
  const ImageSet again = draw_digits(50, 7);
  EXPECT_EQ(first.pixels, again.pixels);
  EXPECT_EQ(first.labels, again.labels);
}

TEST(DrawnDigits, image_does_not_depend_on_the_count) {
  EXPECT_EQ(image(draw_digits(50, 7), 9), image(draw_digits(10, 7), 9));
}

TEST(DrawnDigits, all_images_differ_within_and_across_seeds) {
  std::set<std::vector<std::uint8_t>> seen;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const ImageSet set = draw_digits(200, seed);
    for (std::size_t i = 0; i < set.count(); ++i) seen.insert(image(set, i));
  }
  EXPECT_EQ(seen.size(), 800U);
}

TEST(DrawnDigits, classes_are_balanced) {
  const ImageSet set = draw_digits(1000, 3);
  EXPECT_EQ(set.rows, 28U);
  EXPECT_EQ(set.columns, 28U);
  std::array<int, 10> counts{};
  for (const std::uint8_t label : set.labels) ++counts.at(label);
  EXPECT_EQ(std::ranges::count(counts, 100), 10);
}

TEST(DrawnDigits, every_image_has_ink_and_paper) {
  const ImageSet set = draw_digits(1000, 3);
  for (std::size_t i = 0; i < set.count(); ++i) {
    const std::vector<std::uint8_t> pixels = image(set, i);
    const auto ink = std::ranges::count_if(pixels, [](std::uint8_t p) { return p > 100; });
    EXPECT_GT(ink, 12) << i;
    EXPECT_LT(ink, 300) << i;
  }
}

// The easiest classifier there is must already do far better than chance (50 of 500): the shapes
// carry their class, and a second seed is of the same kind.
TEST(DrawnDigits, nearest_mean_image_of_another_seed_tells_the_class) {
  const ImageSet train = draw_digits(2000, 1);
  const ImageSet test = draw_digits(500, 2);
  std::array<std::array<double, kPixels>, 10> means{};
  for (std::size_t i = 0; i < train.count(); ++i) {
    for (std::size_t p = 0; p < kPixels; ++p) {
      means.at(train.labels[i])[p] += train.pixels[i * kPixels + p] / 200.0;
    }
  }
  int right = 0;
  for (std::size_t i = 0; i < test.count(); ++i) {
    std::array<double, 10> distance{};
    for (std::size_t d = 0; d < 10; ++d) {
      for (std::size_t p = 0; p < kPixels; ++p) {
        const double gap = means[d][p] - test.pixels[i * kPixels + p];
        distance[d] += gap * gap;
      }
    }
    right += std::ranges::min_element(distance) - distance.begin() == test.labels[i] ? 1 : 0;
  }
  EXPECT_GT(right, 200);
}

}  // namespace
}  // namespace trainscope::workload
