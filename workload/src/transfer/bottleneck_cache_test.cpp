#include "transfer/bottleneck_cache.h"

#include <gtest/gtest.h>

#include <fstream>

#include "test_folder.h"

namespace trainscope::workload {
namespace {

TEST(BottleneckCache, gives_back_only_what_belongs_to_weights_and_image) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "class" / "a.jpg.bottleneck";
  const std::vector<std::uint8_t> image{1, 2, 3};
  const std::vector<std::uint8_t> other{1, 2, 4};
  const std::vector<float> values{0.5F, -1.25F, 3.0F};
  const BottleneckKey key = bottleneck_key(7, image);
  EXPECT_FALSE(read_bottleneck(file, key, 3));
  ASSERT_TRUE(write_bottleneck(file, key, values));
  EXPECT_EQ(read_bottleneck(file, key, 3), values);
  EXPECT_FALSE(read_bottleneck(file, key, 2));
  EXPECT_FALSE(read_bottleneck(file, bottleneck_key(8, image), 3));
  EXPECT_FALSE(read_bottleneck(file, bottleneck_key(7, other), 3));
}

TEST(BottleneckCache, any_flipped_bit_counts_as_not_there) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "a";
  const BottleneckKey key{1, 2, 3};
  ASSERT_TRUE(write_bottleneck(file, key, std::vector<float>{1.0F, 2.0F}));
  std::ifstream in(file, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  ASSERT_EQ(good.size(), 32U + 8U + 4U);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    std::ofstream(file, std::ios::binary) << bad;
    EXPECT_FALSE(read_bottleneck(file, key, 2)) << i;
  }
}

}  // namespace
}  // namespace trainscope::workload
