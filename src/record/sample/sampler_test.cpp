#include "record/sample/sampler.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "model/model.h"
#include "record/sample/test_ring.h"

namespace trainscope {
namespace {

constexpr MetricSpec kMetrics[] = {{"test.value", "1", Kind::counter, "", "a value"}};

// Called while a source that counts from zero is opened, and while it is read first.
void (*on_open)() = nullptr;
void (*on_read)() = nullptr;
Shared* shared = nullptr;

class SlowSource : public Source {
 public:
  Opened open(const SourceContext&) override {
    if (on_open != nullptr) on_open();
    Opened opened;
    opened.columns.push_back({"test.value", {}, {}});
    return opened;
  }
  Sampled sample(std::span<int64_t> values) override {
    if (on_read != nullptr) on_read();
    values[0] = 7;
    return Sampled::ok;
  }
};

const Collector kSlow = {
    .name = "slow",
    .summary = "",
    .needs = "",
    .scope = Scope::job,
    .pace = Pace::thread,
    .period_ns = 3600 * kNsPerSecond,
    .counts_from_zero = true,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<SlowSource>()); },
};
constexpr const Collector* kSources[] = {&kSlow};
const Collector kAtEveryTick = {
    .name = "tick",
    .summary = "",
    .needs = "",
    .scope = Scope::job,
    .pace = Pace::tick,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<SlowSource>()); },
};
constexpr const Collector* kTickSources[] = {&kAtEveryTick};
constexpr int64_t kPeriod = 10'000'000;

class SamplerTest : public testing::Test {
 protected:
  SamplerTest() : memory_(*SharedMemory::create(1 << 20)), ring_(memory_) { shared = &*memory_; }
  ~SamplerTest() override {
    on_open = on_read = nullptr;
    memory_.unmap();
  }
  void sample() {
    SelfLink self;
    sample(kSources, self);
  }
  // Until the first sample is taken.
  void sample(std::span<const Collector* const> sources, SelfLink& self) {
    const UniqueFd ready(::eventfd(0, EFD_CLOEXEC));
    Sampler sampler(ring_, memory_, {}, self);
    sampler.sources = sources;
    sampler.ready_fd = ready.get();
    sampler.start(kPeriod, true, "");
    eventfd_t count = 0;
    ASSERT_EQ(eventfd_read(ready.get(), &count), 0);
    sampler.stop();
  }

  SharedMemory memory_;
  Ring ring_;
};

// The supervisor has waited long enough, and its zero is in the manifest: an hour ago, to
// distinguish it from now.
void begin_before() {
  if (shared->zero_ns != 0) return;
  shared->zero_ns = monotonic_ns() - 3600 * kNsPerSecond;
  begin_time(*shared);
}

TEST_F(SamplerTest, time_begins_with_the_first_sample) {
  const int64_t before = monotonic_ns();
  sample();
  EXPECT_GE(memory_->zero_ns, before);
  EXPECT_LE(memory_->zero_ns, monotonic_ns());
  EXPECT_TRUE(has_time_begun(*memory_));
}

TEST_F(SamplerTest, a_zero_that_comes_while_a_source_is_opened_stays) {
  on_open = begin_before;
  const int64_t before = monotonic_ns();
  sample();
  EXPECT_LE(memory_->zero_ns, before - 3000 * kNsPerSecond);
  EXPECT_GE(memory_->missed_ticks, 300'000);  // the gap from 0 on
  ASSERT_FALSE(texts_in(ring_, RecordKind::event).empty());
  EXPECT_NE(texts_in(ring_, RecordKind::event)[0].find("gap"), std::string::npos);
}

TEST_F(SamplerTest, a_zero_that_comes_while_a_source_is_read_stays) {
  on_read = begin_before;
  const int64_t before = monotonic_ns();
  sample();
  EXPECT_LE(memory_->zero_ns, before - 3000 * kNsPerSecond);
  EXPECT_GE(memory_->missed_ticks, 300'000);
}

TEST_F(SamplerTest, rows_that_the_ring_refuses_are_missed_ticks_of_the_series_too) {
  while (ring_.push_text(RecordKind::info, "")) {
  }
  SelfLink self;
  sample(kTickSources, self);
  EXPECT_GE(memory_->missed_ticks, 1);
  EXPECT_EQ(self.missed_ticks, memory_->missed_ticks);
}

TEST_F(SamplerTest, time_begins_once) {
  EXPECT_FALSE(has_time_begun(*memory_));
  EXPECT_TRUE(begin_time(*memory_));
  const Manifest first = with_zero({}, *memory_);
  EXPECT_FALSE(begin_time(*memory_));
  const Manifest second = with_zero({}, *memory_);
  EXPECT_EQ(second.zero_monotonic_ns, first.zero_monotonic_ns);
  EXPECT_EQ(second.zero_boottime_ns, first.zero_boottime_ns);
  EXPECT_EQ(second.zero_realtime_ns, first.zero_realtime_ns);
}

TEST_F(SamplerTest, a_beginning_that_was_cut_short_is_completed) {
  memory_->zero_ns = monotonic_ns() - 3600 * kNsPerSecond;
  EXPECT_FALSE(has_time_begun(*memory_));
  EXPECT_FALSE(begin_time(*memory_));
  EXPECT_TRUE(has_time_begun(*memory_));
  EXPECT_LE(memory_->zero_realtime_ns, realtime_ns() - 3600 * kNsPerSecond);
  EXPECT_LE(memory_->zero_boottime_ns, boottime_ns() - 3600 * kNsPerSecond);
}

}  // namespace
}  // namespace trainscope
