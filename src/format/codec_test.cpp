#include "format/codec.h"

#include <gtest/gtest.h>

#include "format/frame.h"

namespace trainscope {
namespace codec_test {

constexpr int64_t kMin = INT64_MIN + 1, kMax = INT64_MAX;

const std::vector<std::vector<int64_t>> kRows = {
    // all, all equal, none, some, extremes
    {1, 7, kAbsent, 5, kMax},
    {4, 7, kAbsent, kAbsent, kMin},
    {2, 7, kAbsent, 9, 0},
    {2, 7, kAbsent, kAbsent, kMax},
};

std::vector<const int64_t*> pointers(const std::vector<std::vector<int64_t>>& rows) {
  std::vector<const int64_t*> out;
  for (const auto& row : rows) out.push_back(row.data());
  return out;
}

TEST(codec, varints_come_back) {
  for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{63}, int64_t{64},
                              int64_t{-65}, kMin, kMax, INT64_MIN}) {
    std::string bytes;
    append_svarint(bytes, value);
    std::string_view in = bytes;
    int64_t back = 0;
    ASSERT_TRUE(take_svarint(in, back));
    EXPECT_EQ(back, value);
    EXPECT_TRUE(in.empty());
    for (size_t n = 0; n < bytes.size(); ++n) {
      in = std::string_view(bytes).substr(0, n);
      EXPECT_FALSE(take_svarint(in, back)) << value << " cut to " << n;
    }
  }
  std::string_view endless = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
  uint64_t value = 0;
  EXPECT_FALSE(take_uvarint(endless, value));
}

TEST(codec, times_come_back_and_every_truncation_is_refused) {
  const std::vector<RowTime> rows = {{0, 0}, {1, 12}, {5, -3}, {1'000'000, 49'999}};
  const std::string bytes = encode_times(3, 17, rows);
  const auto times = decode_times(bytes);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->stream, 3U);
  EXPECT_EQ(times->block, 17U);
  ASSERT_EQ(times->rows.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(times->rows[i].tick, rows[i].tick);
    EXPECT_EQ(times->rows[i].late_us, rows[i].late_us);
  }
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode_times(bytes.substr(0, n))) << n;
}

TEST(codec, ticks_that_wrap_around_are_refused) {
  std::string bytes;
  append_uvarint(bytes, 0);  // stream
  append_uvarint(bytes, 1);  // block
  append_uvarint(bytes, 2);  // rows
  append_svarint(bytes, 5);
  append_uvarint(bytes, UINT64_MAX);  // the next tick would be 5 again
  append_svarint(bytes, 0);
  append_svarint(bytes, 0);
  EXPECT_FALSE(decode_times(bytes));
}

class ColumnsCodec : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(ColumnsCodec, come_back_and_every_truncation_is_refused) {
  const auto [level, with_statistics] = GetParam();
  std::vector<Totals> totals = {Totals::sum, Totals::increases, Totals::sum, Totals::increases,
                                Totals::none};
  EncodeOptions options;
  options.zstd_level = level;
  if (with_statistics) options.totals = totals;
  uint8_t flags = 0;
  const std::string bytes = encode_columns(4, 2, pointers(kRows), 5, options, flags);
  const auto header = decode_columns_header(bytes, flags, totals);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->schema, 4U);
  EXPECT_EQ(header->block, 2U);
  EXPECT_EQ(header->rows, 4U);
  const auto plain = plain_body(*header, flags, 5);
  ASSERT_TRUE(plain);
  const auto offsets = column_offsets(*plain, header->rows, 5);
  ASSERT_TRUE(offsets);
  for (size_t c = 0; c < 5; ++c) {
    std::vector<int64_t> one(4);
    ASSERT_TRUE(decode_column(*plain, (*offsets)[c], one));
    for (size_t r = 0; r < 4; ++r) {
      EXPECT_EQ(one[r], kRows[r][c]) << r << "," << c;
    }
  }
  for (size_t n = 0; n < bytes.size(); ++n) {
    const std::string cut = bytes.substr(0, n);
    const auto less = decode_columns_header(cut, flags, totals);
    if (!less) continue;
    const auto body = plain_body(*less, flags, 5);
    EXPECT_FALSE(body && column_offsets(*body, less->rows, 5)) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(all, ColumnsCodec,
                         testing::Combine(testing::Values(0, 3), testing::Bool()));

TEST(codec, statistics_are_those_of_the_values) {
  const std::vector<Totals> totals = {Totals::sum, Totals::increases, Totals::sum,
                                      Totals::increases, Totals::none};
  uint8_t flags = 0;
  const std::string bytes = encode_columns(1, 1, pointers(kRows), 5, {totals, 3}, flags);
  const auto header = decode_columns_header(bytes, flags, totals);
  ASSERT_TRUE(header);
  const ColumnStatistics& gauge = header->statistics[0];
  EXPECT_EQ(gauge.present, 4U);
  EXPECT_EQ(gauge.first, 1);
  EXPECT_EQ(gauge.last, 2);
  EXPECT_EQ(gauge.min, 1);
  EXPECT_EQ(gauge.max, 4);
  EXPECT_EQ(gauge.total, 5U);  // (1-1) + (4-1) + (2-1) + (2-1)
  EXPECT_EQ(header->statistics[2].present, 0U);
  const ColumnStatistics& counter = header->statistics[3];
  EXPECT_EQ(counter.present, 2U);
  EXPECT_EQ(counter.total, 4U);
}

// Skipping and reading a column go eight bytes at a time: every length of its numbers, at every
// place.
TEST(codec, columns_of_numbers_of_any_length_are_found) {
  std::vector<std::vector<int64_t>> rows;
  for (int64_t r = 0; r < 67; ++r) {
    const int64_t wide = int64_t{1} << (r % 62);
    const int64_t sometimes_wide = r - (r % 11 == 3 ? wide : 0);
    rows.push_back(
        {r % 2 == 0 ? wide : -wide, r, r % 3 == 0 ? kAbsent : wide, sometimes_wide, 5 * r});
  }
  uint8_t flags = 0;
  const std::string bytes = encode_columns(1, 1, pointers(rows), 5, {}, flags);
  const auto header = decode_columns_header(bytes, flags, {});
  ASSERT_TRUE(header);
  const auto offsets = column_offsets(header->body, header->rows, 5);
  ASSERT_TRUE(offsets);
  for (size_t c = 0; c < 5; ++c) {
    std::vector<int64_t> one(rows.size());
    ASSERT_TRUE(decode_column(header->body, (*offsets)[c], one));
    for (size_t r = 0; r < rows.size(); ++r) EXPECT_EQ(one[r], rows[r][c]) << r << "," << c;
  }
}

TEST(codec, a_column_that_ends_early_is_refused) {
  std::vector<std::vector<int64_t>> rows;
  for (int64_t r = 0; r < 40; ++r) rows.push_back({r % 13 == 12 ? 100'000 * r : r});
  uint8_t flags = 0;
  const std::string bytes = encode_columns(1, 1, pointers(rows), 1, {}, flags);
  const auto header = decode_columns_header(bytes, flags, {});
  ASSERT_TRUE(header);
  std::vector<int64_t> one(rows.size());
  ASSERT_TRUE(decode_column(header->body, 0, one));
  for (size_t n = 0; n < header->body.size(); ++n) {
    EXPECT_FALSE(decode_column(header->body.substr(0, n), 0, one)) << n;
  }
}

// Longer than ten bytes is not a number, wherever it begins.
TEST(codec, a_number_that_is_too_long_is_refused_when_it_is_skipped) {
  for (size_t before = 0; before < 16; ++before) {
    for (const size_t length : {10U, 11U}) {
      std::string body(1, '\0');  // every row has a value
      body += std::string(before, '\1') + std::string(length - 1, '\x81') + '\1';
      body += std::string(63 - before, '\1');
      EXPECT_EQ(static_cast<bool>(column_offsets(body, 64, 1)), length == 10) << before;
    }
  }
}

// A zstd frame of a few bytes may say that it holds gigabytes.
TEST(codec, a_size_that_cannot_be_is_refused_before_anything_is_allocated) {
  const std::string honest = compress(std::string(100'000, 'a'), 3);
  EXPECT_TRUE(decompress(honest, 100'000));
  EXPECT_FALSE(decompress(honest, 99'999));
  std::string liar("\x28\xb5\x2f\xfd\xa0", 5);  // a frame with a size of four bytes
  liar += std::string("\0\0\0\x04", 4) + honest.substr(honest.size() - 8);
  EXPECT_FALSE(decompress(liar, size_t{64} << 20));
}

}  // namespace codec_test
}  // namespace trainscope
