#include <gtest/gtest.h>

#include <atomic>

#include "record/sample/sampler.h"
#include "record/sample/test_ring.h"

namespace trainscope {
namespace stream_test {

constexpr MetricSpec kMetrics[] = {{"test.value", "1", Kind::counter, "place", "a value"}};
constexpr MetricSpec kLevelMetrics[] = {{"test.value", "1", Kind::gauge, "place", "a value"}};
constexpr size_t kRingBytes = 8192;

// Has one column at first; each call of grow adds one.
class GrowingSource : public Source {
 public:
  explicit GrowingSource(const size_t& wanted) : wanted_(wanted) {}
  Opened open(const SourceContext&) override {
    Opened opened;
    have_ = wanted_;
    for (size_t c = 0; c < have_; ++c) {
      opened.columns.push_back({"test.value", {{"place", std::to_string(c)}}, {}});
    }
    return opened;
  }
  Sampled sample(std::span<int64_t> values) override {
    if (have_ != wanted_) return Sampled::layout_changed;
    for (int64_t& value : values) value = 7;
    return Sampled::ok;
  }

 private:
  const size_t& wanted_;
  size_t have_ = 0;
};

size_t& columns_wanted() {
  static size_t wanted = 1;
  return wanted;
}

const Collector kGrowing = {
    .name = "growing",
    .summary = "",
    .needs = "",
    .metrics = kMetrics,
    .make =
        [] { return std::unique_ptr<Source>(std::make_unique<GrowingSource>(columns_wanted())); },
};

// Each row has as many values as the schema that was announced last before it.
void expect_rows_fit(const Ring& ring, uint64_t from, uint32_t columns) {
  ring.visit(from, [&](const RecordHeader& header) {
    if (header.kind == RecordKind::schema) {
      columns = reinterpret_cast<const SchemaRecord&>(header).columns;
    } else if (header.kind == RecordKind::row) {
      EXPECT_EQ(reinterpret_cast<const RowRecord&>(header).count(), columns);
    }
    return true;
  });
}

TEST(Stream, refuses_rows_until_their_layout_is_announced) {
  columns_wanted() = 1;
  Ring ring(*SharedMemory::create(kRingBytes));
  SourceGroup group(0, 1'000'000, {&kGrowing});
  const SourceContext context;
  std::atomic<uint32_t> next_schema{1};
  group.open(context, ring, next_schema);
  int64_t tick = 0;
  while (group.sample(tick, 0, ring)) ++tick;
  ASSERT_GT(tick, 10);
  columns_wanted() = 6;
  EXPECT_FALSE(group.sample(tick++, 0, ring));
  // Space for a row, but not for the longer schema.
  int rows = 0;
  ring.release(ring.visit(ring.tail(), [&](const RecordHeader& header) {
    rows += header.kind == RecordKind::row ? 1 : 0;
    return rows < 3;
  }));
  EXPECT_FALSE(group.sample(tick++, 0, ring));
  expect_rows_fit(ring, ring.tail(), 1);
  ring.release(ring.head());
  EXPECT_TRUE(group.sample(tick, 0, ring));
  size_t schemas = 0;
  ring.visit(ring.tail(), [&](const RecordHeader& header) {
    schemas += header.kind == RecordKind::schema ? 1U : 0U;
    return true;
  });
  EXPECT_EQ(schemas, 1U);
  expect_rows_fit(ring, ring.tail(), 1);
}

// Closing values are useless without the schema that names them.
TEST(Stream, tells_no_closing_values_of_a_layout_that_nobody_knows) {
  columns_wanted() = 1;
  Ring ring(*SharedMemory::create(kRingBytes));
  SourceGroup group(0, 1'000'000, {&kGrowing});
  const SourceContext context;
  std::atomic<uint32_t> next_schema{1};
  group.open(context, ring, next_schema);
  while (group.sample(0, 0, ring)) {
  }
  columns_wanted() = 2;
  const uint64_t head = ring.head();
  group.sample_closing(1, ring);
  EXPECT_EQ(ring.head(), head);
}

// Its layout changes with every sample from the second on, and it fills in nothing then.
class RestlessSource : public Source {
 public:
  Opened open(const SourceContext&) override {
    Opened opened;
    opened.columns = {{"test.value", {{"place", "here"}}, {}}};
    return opened;
  }
  Sampled sample(std::span<int64_t> values) override {
    if (samples_++ > 0) return Sampled::layout_changed;
    values[0] = 7;
    return Sampled::ok;
  }

 private:
  int samples_ = 0;
};

const Collector kRestless = {
    .name = "restless",
    .summary = "",
    .needs = "",
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<RestlessSource>()); },
};

std::vector<std::vector<int64_t>> rows_in(const Ring& ring) {
  std::vector<std::vector<int64_t>> rows;
  ring.visit(ring.tail(), [&](const RecordHeader& header) {
    if (header.kind != RecordKind::row) return true;
    const auto& row = reinterpret_cast<const RowRecord&>(header);
    rows.emplace_back(row.values(), row.values() + row.count());
    return true;
  });
  return rows;
}

TEST(Stream, a_value_that_is_not_filled_in_is_absent) {
  Ring ring(*SharedMemory::create(kRingBytes));
  columns_wanted() = 2;
  SourceGroup group(0, 1'000'000, {&kGrowing, &kRestless});
  const SourceContext context;
  std::atomic<uint32_t> next_schema{1};
  group.open(context, ring, next_schema);
  EXPECT_TRUE(group.sample(0, 0, ring));
  EXPECT_TRUE(group.sample(1, 0, ring));
  const std::vector<std::vector<int64_t>> wanted = {{7, 7, 7}, {7, 7, kAbsent}};
  EXPECT_EQ(rows_in(ring), wanted);
}

constexpr MetricSpec kCounted[] = {{"test.count", "1", Kind::counter, "", "a count"},
                                   {"test.level", "1", Kind::gauge, "", "a level"}};

// Reads its file only now and then, as sources do that are dear to read.
class RestingSource : public Source {
 public:
  Opened open(const SourceContext&) override {
    Opened opened;
    opened.columns = {{"test.count", {}, {}}, {"test.level", {}, {}}};
    return opened;
  }
  Sampled sample(std::span<int64_t> values) override {
    values[0] = values[1] = kAbsent;
    return Sampled::ok;
  }
  Sampled sample_last(std::span<int64_t> values) override {
    values[0] = values[1] = 42;
    return Sampled::ok;
  }
};

const Collector kResting = {
    .name = "resting",
    .summary = "",
    .needs = "",
    .metrics = kCounted,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<RestingSource>()); },
};

TEST(Stream, counters_are_read_at_the_end_by_those_that_rest_and_have_gauges_too) {
  Ring ring(*SharedMemory::create(kRingBytes));
  SourceGroup group(0, 1'000'000, {&kResting});
  const SourceContext context;
  std::atomic<uint32_t> next_schema{1};
  group.open(context, ring, next_schema);
  group.sample_closing(5, ring);
  EXPECT_EQ(texts_in(ring, RecordKind::closing),
            std::vector<std::string>{R"({"schema":1,"time_ns":5,"values":[42,null]})"});
}

// Reading gauges once more would only delay the job's end.
TEST(Stream, without_counters_nothing_is_read_at_the_end) {
  Collector levels = kGrowing;
  levels.metrics = kLevelMetrics;
  columns_wanted() = 1;
  Ring ring(*SharedMemory::create(kRingBytes));
  SourceGroup group(0, 1'000'000, {&levels});
  const SourceContext context;
  std::atomic<uint32_t> next_schema{1};
  group.open(context, ring, next_schema);
  group.sample_closing(5, ring);
  EXPECT_TRUE(texts_in(ring, RecordKind::closing).empty());
}

}  // namespace stream_test
}  // namespace trainscope
