#include "record/sample/ring.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace trainscope {
namespace ring_test {

constexpr size_t kRingBytes = 4096;

std::vector<int64_t> ticks_in(const Ring& ring) {
  std::vector<int64_t> ticks;
  ring.visit(ring.tail(), [&](const RecordHeader& header) {
    if (header.kind == RecordKind::row) {
      ticks.push_back(reinterpret_cast<const RowRecord&>(header).tick);
    }
    return true;
  });
  return ticks;
}

TEST(Ring, gives_back_what_was_pushed) {
  Ring ring(*SharedMemory::create(kRingBytes));
  ASSERT_TRUE(ring.push_row(3, 7, -2, std::vector<int64_t>{1, INT64_MIN, 5}));
  ASSERT_TRUE(ring.push_text(RecordKind::event, "{\"a\":1}"));
  int seen = 0;
  ring.visit(ring.tail(), [&](const RecordHeader& header) {
    if (++seen == 1) {
      const auto& row = reinterpret_cast<const RowRecord&>(header);
      EXPECT_EQ(row.header.stream, 3U);
      EXPECT_EQ(row.tick, 7);
      EXPECT_EQ(row.late_us, -2);
      EXPECT_EQ(row.count(), 3U);
      EXPECT_EQ(row.values()[1], INT64_MIN);
    } else {
      EXPECT_EQ(reinterpret_cast<const TextRecord&>(header).text(), "{\"a\":1}");
    }
    return true;
  });
  EXPECT_EQ(seen, 2);
}

TEST(Ring, refuses_when_full_and_goes_on_when_released) {
  Ring ring(*SharedMemory::create(kRingBytes));
  const std::vector<int64_t> values(20, 1);
  int64_t tick = 0;
  while (ring.push_row(0, tick, 0, values)) ++tick;
  EXPECT_GT(tick, 10);
  const auto kept = ticks_in(ring);
  EXPECT_EQ(static_cast<int64_t>(kept.size()), tick);
  ring.release(ring.head());
  EXPECT_TRUE(ring.push_row(0, 1000, 0, values));
  EXPECT_EQ(ticks_in(ring), std::vector<int64_t>{1000});
}

// Records of many sizes over many rounds: none is torn at the end of the space, none is lost.
TEST(Ring, wraps_without_tearing) {
  Ring ring(*SharedMemory::create(kRingBytes));
  int64_t expected = 0;
  for (int64_t tick = 0; tick < 5000; ++tick) {
    const std::vector<int64_t> values(static_cast<size_t>(tick % 37), tick);
    ASSERT_TRUE(ring.push_row(0, tick, 0, values));
    if (tick % 3 != 0) continue;
    const uint64_t end = ring.visit(ring.tail(), [&](const RecordHeader& header) {
      const auto& row = reinterpret_cast<const RowRecord&>(header);
      EXPECT_EQ(row.tick, expected);
      EXPECT_EQ(row.count(), static_cast<size_t>(expected % 37));
      for (size_t i = 0; i < row.count(); ++i) EXPECT_EQ(row.values()[i], expected);
      ++expected;
      return true;
    });
    ring.release(end);
  }
  EXPECT_GE(expected, 4999);
}

TEST(Ring, refuses_a_record_that_is_too_large) {
  Ring ring(*SharedMemory::create(kRingBytes));
  EXPECT_FALSE(ring.push_text(RecordKind::info, std::string(3000, 'x')));
}

TEST(Ring, a_damaged_record_is_not_visited) {
  for (const RecordHeader damaged :
       {RecordHeader{8, RecordKind::row, 0, 0}, RecordHeader{32, RecordKind::row, kMaxStreams, 0},
        RecordHeader{4096, RecordKind::row, 0, 0}}) {
    SharedMemory memory = *SharedMemory::create(kRingBytes);
    Ring ring(memory);
    ASSERT_TRUE(ring.push_row(0, 0, 0, {}));
    std::memcpy(memory.ring_space(), &damaged, sizeof damaged);
    int visited = 0;
    const auto count = [&](const RecordHeader&) { return ++visited > 0; };
    EXPECT_EQ(ring.visit(ring.tail(), count), ring.head());
    EXPECT_EQ(visited, 0) << damaged.bytes << " bytes, stream " << damaged.stream;
    EXPECT_EQ(memory->ring_is_damaged, 1);
    memory.unmap();
  }
}

TEST(Ring, takes_rows_from_several_threads) {
  Ring ring(*SharedMemory::create(1 << 20));
  std::vector<std::thread> threads;
  for (uint32_t stream = 0; stream < 4; ++stream) {
    threads.emplace_back([&ring, stream] {
      for (int64_t tick = 0; tick < 500; ++tick) {
        ring.push_row(stream, tick, 0, std::vector<int64_t>{tick});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int64_t> next(4, 0);
  ring.visit(ring.tail(), [&](const RecordHeader& header) {
    const auto& row = reinterpret_cast<const RowRecord&>(header);
    EXPECT_EQ(row.tick, next[header.stream]++);
    return true;
  });
  EXPECT_EQ(next, (std::vector<int64_t>{500, 500, 500, 500}));
}

}  // namespace ring_test
}  // namespace trainscope
