#include "record/sample/sampler.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "model/model.h"
#include "record/sample/test_ring.h"

namespace trainscope {
namespace sampler_test {

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

// How long after the beginning of a period it was read, each time.
class PhaseSource : public Source {
 public:
  static constexpr size_t kReadings = 40;
  Opened open(const SourceContext&) override {
    count = 0;
    Opened opened;
    opened.columns.push_back({"test.value", {}, {}});
    return opened;
  }
  Sampled sample(std::span<int64_t> values) override {
    values[0] = (monotonic_ns() - shared->zero_ns) % kPeriod;
    if (count < kReadings) phases_ns[count++] = values[0];
    return Sampled::ok;
  }
  static std::array<int64_t, kReadings> phases_ns;
  static std::atomic<size_t> count;
};
std::array<int64_t, PhaseSource::kReadings> PhaseSource::phases_ns;
std::atomic<size_t> PhaseSource::count;

const Collector kVarying = {
    .name = "varying",
    .summary = "",
    .needs = "",
    .scope = Scope::job,
    .pace = Pace::thread,
    .period_ns = kPeriod,
    .varies = true,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<PhaseSource>()); },
};
constexpr const Collector* kVaryingSources[] = {&kVarying};

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

// What the job does once per period is not always seen in the same state.
TEST_F(SamplerTest, a_source_that_varies_is_read_in_every_part_of_a_period) {
  SelfLink self;
  Sampler sampler(ring_, memory_, {}, self);
  sampler.sources = kVaryingSources;
  sampler.start(kPeriod, true, "");
  for (int i = 0; i < 60'000 && PhaseSource::count < PhaseSource::kReadings; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  sampler.stop();
  ASSERT_EQ(PhaseSource::count, PhaseSource::kReadings);
  const auto is_late = [](int64_t phase_ns) { return phase_ns > kPeriod / 2; };
  const auto& phases = PhaseSource::phases_ns;
  EXPECT_TRUE(std::any_of(phases.begin(), phases.end(), is_late));
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

}  // namespace sampler_test
}  // namespace trainscope
