#include "format/frame.h"

#include <gtest/gtest.h>

#include <set>

namespace trainscope {
namespace frame_test {

std::string three_frames() {
  std::string file = file_header();
  append_frame(file, FrameType::head, 0, "first");
  append_frame(file, FrameType::event, 0, "");
  append_frame(file, FrameType::info, 3, "third, with Ts in it");
  return file;
}

TEST(frame, crc_is_the_castagnoli_one) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xE3069283U);
}

TEST(frame, what_was_written_comes_back) {
  const std::string file = three_frames();
  const auto scan = scan_frames(file);
  ASSERT_TRUE(scan);
  ASSERT_EQ(scan->frames.size(), 3U);
  EXPECT_EQ(scan->frames[0].payload, "first");
  EXPECT_EQ(scan->frames[2].flags, 3);
  EXPECT_EQ(scan->torn_at, 0U);
  EXPECT_TRUE(scan->damages.empty());
}

TEST(frame, every_truncation_is_a_torn_tail) {
  const std::string file = three_frames();
  for (size_t n = 0; n < file.size(); ++n) {
    const std::string cut = file.substr(0, n);
    const auto scan = scan_frames(cut);
    if (n < kFileHeaderBytes) {
      EXPECT_FALSE(scan) << n;
      continue;
    }
    ASSERT_TRUE(scan) << n;
    EXPECT_LT(scan->frames.size(), 3U) << n;
    EXPECT_TRUE(scan->damages.empty()) << n;
  }
}

TEST(frame, no_flipped_byte_gets_through) {
  const std::string file = three_frames();
  const std::set<std::string> written = {"first", "", "third, with Ts in it"};
  for (size_t at = 0; at < file.size(); ++at) {
    for (const unsigned bit : {0U, 3U, 7U}) {
      std::string bad = file;
      bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ (1U << bit));
      const auto scan = scan_frames(bad);
      if (at < kFileHeaderBytes) {
        EXPECT_FALSE(scan) << at;
        continue;
      }
      ASSERT_TRUE(scan);
      EXPECT_EQ(scan->frames.size(), 2U) << at;
      EXPECT_TRUE(!scan->damages.empty() || scan->torn_at > 0) << at;
      for (const Frame& frame : scan->frames) {
        EXPECT_TRUE(written.contains(std::string(frame.payload))) << at;
      }
    }
  }
}

TEST(frame, damage_is_reported_with_its_place) {
  std::string file = three_frames();
  file[kFileHeaderBytes + kFrameHeaderBytes] = 'F';
  const auto scan = scan_frames(file);
  ASSERT_TRUE(scan);
  ASSERT_EQ(scan->damages.size(), 1U);
  EXPECT_EQ(scan->damages[0].from, kFileHeaderBytes);
  EXPECT_NE(scan->damages[0].reason.find("offset 16"), std::string::npos);
}

// Marks with long lengths after them would cost the square of the file's size.
TEST(frame, a_file_of_marks_is_read_in_time) {
  std::string file = file_header();
  const std::string half(size_t{4} << 20, '\0');
  std::string mark = "Ts";
  mark += std::string("\0\0\0\0\x10\0", 6);  // 1 MiB
  while (file.size() < half.size()) file += mark;
  file += half;
  EXPECT_TRUE(scan_frames(file));
}

// After a damaged place, too, no more than a frame is read at a time.
TEST(frame, the_search_after_damage_reads_in_parts) {
  std::string file = file_header();
  constexpr size_t kFrames = 2000, kPayload = 1000;
  std::vector<size_t> offsets;
  for (size_t i = 0; i < kFrames; ++i) {
    offsets.push_back(file.size());
    append_frame(file, FrameType::event, 0, std::string(kPayload, 'T'));
  }
  file[offsets[0]] = 'X';
  file[offsets[kFrames / 2] + 5] = '\x02';  // claims another length
  size_t longest = 0, seen = 0;
  std::vector<size_t> damaged;
  const FrameBytes bytes = {
      file.size(), [&](size_t offset, size_t length) {
        longest = std::max(longest, length);
        return Result<std::string_view>(std::string_view(file).substr(offset, length));
      }};
  const FrameVisitor visitor = {[&](const Frame& /*frame*/) {
                                  ++seen;
                                  return Status();
                                },
                                [&](const Damage& damage) { damaged.push_back(damage.from); }};
  const auto torn_at = visit_frames(bytes, visitor);
  ASSERT_TRUE(torn_at);
  EXPECT_EQ(*torn_at, 0U);
  EXPECT_EQ(seen, kFrames - 2);
  EXPECT_EQ(damaged, (std::vector<size_t>{offsets[0], offsets[kFrames / 2]}));
  EXPECT_LT(longest, file.size() / 8);
}

TEST(frame, a_newer_version_is_refused_and_says_so) {
  std::string bytes = file_header();
  bytes[8] = 2;
  const auto scan = scan_frames(bytes);
  ASSERT_FALSE(scan);
  EXPECT_EQ(scan.error().message(),
            "format version 2 at offset 8; this program reads version 1: use a newer trainscope");
}

}  // namespace frame_test
}  // namespace trainscope
