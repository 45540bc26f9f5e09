#include "data/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace trainscope::workload {
namespace {

// Image i is one pixel, i; its class is i too.
ImageSet numbers(std::uint8_t count) {
  ImageSet set;
  set.rows = 1;
  set.columns = 1;
  for (std::uint8_t i = 0; i < count; ++i) {
    set.pixels.push_back(i);
    set.labels.push_back(i);
  }
  return set;
}

std::vector<std::vector<std::int64_t>> batches(const Samples& samples, const LoaderOptions& options,
                                               int count) {
  Loader loader(samples, options);
  std::vector<std::vector<std::int64_t>> result;
  for (int i = 0; i < count; ++i) {
    const Result<Batch> batch = loader.next();
    EXPECT_TRUE(batch);
    EXPECT_TRUE(std::equal(batch.value().pixels.begin(), batch.value().pixels.end(),
                           batch.value().labels.begin()));
    result.push_back(batch.value().labels);
  }
  return result;
}

TEST(Loader, every_pass_has_every_image_once_in_another_order) {
  const MemorySamples samples(numbers(25));
  LoaderOptions options;
  options.batch = 10;
  const auto all = batches(samples, options, 6);
  const auto pass = [&](std::size_t from) {
    std::vector<std::int64_t> labels;
    for (std::size_t i = from; i < from + 3; ++i) {
      labels.insert(labels.end(), all[i].begin(), all[i].end());
    }
    return labels;
  };
  EXPECT_EQ(all[2].size(), 5U);
  const std::vector<std::int64_t> first = pass(0);
  const std::vector<std::int64_t> second = pass(3);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 25U);
  EXPECT_EQ(std::set(second.begin(), second.end()).size(), 25U);
  EXPECT_NE(first, second);
  EXPECT_FALSE(std::ranges::is_sorted(first));
}

TEST(Loader, threads_and_place_of_beginning_change_nothing) {
  const MemorySamples samples(numbers(50));
  LoaderOptions options;
  options.batch = 7;
  const auto alone = batches(samples, options, 30);
  options.threads = 4;
  options.prefetch = 3;
  EXPECT_EQ(batches(samples, options, 30), alone);
  options.first = 11;
  const auto later = batches(samples, options, 19);
  EXPECT_TRUE(std::equal(later.begin(), later.end(), alone.begin() + 11));
  options.first = 0;
  options.seed = 2;
  EXPECT_NE(batches(samples, options, 30), alone);
}

TEST(Loader, without_shuffling_the_order_is_that_of_the_data) {
  const MemorySamples samples(numbers(5));
  LoaderOptions options;
  options.batch = 2;
  options.shuffle = false;
  options.threads = 2;
  options.last = 3;
  const std::vector<std::vector<std::int64_t>> expected{{0, 1}, {2, 3}, {4}};
  EXPECT_EQ(batches(samples, options, 3), expected);
}

class BrokenSamples : public MemorySamples {
 public:
  BrokenSamples() : MemorySamples(numbers(10)) {}
  Result<std::uint32_t> read(std::size_t index, std::span<std::uint8_t> pixels,
                             StageTimes& times) const override {
    if (index == 7) return Error("image 7 is broken");
    return MemorySamples::read(index, pixels, times);
  }
};

TEST(Loader, image_that_cannot_be_read_is_an_error_in_its_place) {
  const BrokenSamples samples;
  for (const unsigned threads : {0U, 2U}) {
    LoaderOptions options;
    options.batch = 2;
    options.shuffle = false;
    options.threads = threads;
    Loader loader(samples, options);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(loader.next());
    const Result<Batch> broken = loader.next();
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().message(), "image 7 is broken");
  }
}

TEST(Loader, ends_while_threads_still_have_work) {
  const MemorySamples samples(numbers(100));
  LoaderOptions options;
  options.batch = 1;
  options.threads = 4;
  options.prefetch = 50;
  for (int i = 0; i < 20; ++i) {
    Loader loader(samples, options);
    EXPECT_TRUE(loader.next());
  }
}

}  // namespace
}  // namespace trainscope::workload
