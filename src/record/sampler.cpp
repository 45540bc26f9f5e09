#include "record/sampler.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr int64_t kMissedForGap = 3;

void name_thread(const char* name) { prctl(PR_SET_NAME, name); }

}  // namespace

Sampler::Sampler(Ring& ring, SharedMemory memory, const Surroundings& surroundings, SelfLink& self)
    : ring_(ring), memory_(memory), surroundings_(surroundings), self_(self) {}

Sampler::~Sampler() {
  if (ticks_.joinable()) ticks_.join();
  // A thread that hangs in a source cannot be joined; the process is about to end.
  for (std::thread& thread : own_threads_) thread.detach();
}

void Sampler::start(int64_t period_ns, bool records_machine, const std::string& reason) {
  restart_reason_ = reason;
  continued_ns_ = memory_->signal_seen_ns[SIGCONT];
  std::vector<const Collector*> tick, second;
  for (const Collector* collector : collectors()) {
    if (collector->scope == Scope::machine && !records_machine) continue;
    if (collector->pace == Pace::tick) tick.push_back(collector);
    if (collector->pace == Pace::second) second.push_back(collector);
  }
  streams_.push_back(std::make_unique<SourceGroup>(0, period_ns, tick));
  streams_.push_back(std::make_unique<SourceGroup>(1, std::max(period_ns, kNsPerSecond), second));
  std::vector<Schedule> schedules = {{streams_[0].get(), 0}, {streams_[1].get(), 0}};
  ticks_ = std::thread([this, schedules] { run_ticks(schedules); });
  for (const Collector* collector : collectors()) {
    if (collector->scope == Scope::machine && !records_machine) continue;
    if (collector->pace != Pace::thread || streams_.size() == kMaxStreams) continue;
    streams_.push_back(std::make_unique<SourceGroup>(static_cast<uint32_t>(streams_.size()),
                                                     std::max(period_ns, collector->period_ns),
                                                     std::vector<const Collector*>{collector}));
    SourceGroup& stream = *streams_.back();
    ++own_threads_running_;
    own_threads_.emplace_back([this, &stream] { run_own_thread(stream); });
  }
}

void Sampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  ticks_.join();
  // The others are given a moment; one that hangs costs its last values and nothing else.
  for (int i = 0; i < 100 && own_threads_running_ > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool Sampler::wait_until(int64_t moment_ns) {
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
  std::unique_lock lock(mutex_);
  const Clock::time_point moment{std::chrono::nanoseconds(moment_ns)};
  return !wake_.wait_until(lock, moment, [this] { return stopping_; });
}

void Sampler::run_ticks(std::vector<Schedule> schedules) {
  name_thread("ts-sample");
  prctl(PR_SET_TIMERSLACK, 1);
  for (Schedule& s : schedules) s.stream->open(surroundings_, ring_, memory_->next_schema);
  if (memory_->zero_ns == 0) {
    memory_->zero_realtime_ns = realtime_ns();
    memory_->zero_boottime_ns = boottime_ns();
    memory_->zero_ns = monotonic_ns();
  } else {
    const int64_t elapsed = monotonic_ns() - memory_->zero_ns;
    const int64_t expected = memory_->next_tick;
    for (Schedule& s : schedules) s.next_tick = elapsed / s.stream->period_ns() + 1;
    note_missed(schedules[0], expected, schedules[0].next_tick - expected);
  }
  const int64_t zero = memory_->zero_ns;
  for (;;) {
    int64_t due = INT64_MAX;
    for (const Schedule& s : schedules) {
      due = std::min(due, zero + s.next_tick * s.stream->period_ns());
    }
    if (!wait_until(due)) break;
    for (Schedule& s : schedules) take_due(s, monotonic_ns());
  }
  close_ticks(schedules);
}

void Sampler::take_due(Schedule& schedule, int64_t now) {
  SourceGroup& stream = *schedule.stream;
  const int64_t period = stream.period_ns();
  const int64_t since_zero = now - memory_->zero_ns;
  const int64_t latest = since_zero / period;
  if (latest < schedule.next_tick) return;
  const int64_t late = since_zero - latest * period;
  const bool in_time = late <= period / 2;
  const int64_t missed = latest - schedule.next_tick + (in_time ? 0 : 1);
  if (missed > 0) note_missed(schedule, schedule.next_tick, missed);
  schedule.next_tick = latest + 1;
  if (stream.id() == 0) {
    self_.lateness_ns = late;
    memory_->next_tick = schedule.next_tick;
    memory_->last_tick_ns = now;
  }
  if (!in_time) return;
  const bool kept = stream.sample(latest, late / 1000, ring_);
  if (stream.id() != 0) return;
  if (!kept) {
    ++refused_rows_;
    ++memory_->missed_ticks;
  } else if (refused_rows_ > 0) {
    push_event(ring_, (latest - 1) * period, "gap",
               fmt::format("{} samples were not kept: the run folder could not be written and the "
                           "memory for samples was full",
                           refused_rows_));
    refused_rows_ = 0;
  }
  if (publishes_status) publish_status(stream);
  if (memory_->first_sample_taken.exchange(1) == 0 && ready_fd >= 0) eventfd_write(ready_fd, 1);
}

void Sampler::note_missed(Schedule& schedule, int64_t first, int64_t count) {
  if (schedule.stream->id() != 0 || count <= 0) return;
  memory_->missed_ticks += count;
  self_.missed_ticks = memory_->missed_ticks.load();
  const std::string reason = why_missed();
  if (count < kMissedForGap) return;
  push_event(ring_, (first + count - 1) * schedule.stream->period_ns(), "gap", reason);
}

std::string Sampler::why_missed() {
  if (!restart_reason_.empty()) return std::exchange(restart_reason_, {});
  // SIGCONT is blocked here and read by the main thread, which may not have come to it yet.
  sigset_t pending;
  sigpending(&pending);
  const int64_t seen = memory_->signal_seen_ns[SIGCONT];
  const bool waiting = sigismember(&pending, SIGCONT) == 1;
  const bool continued = seen > continued_ns_ || waiting;
  continued_ns_ = waiting ? monotonic_ns() : seen;
  if (continued) return "the recorder was stopped and continued";
  return "the recorder could not run in time: the machine was too busy or was paused";
}

void Sampler::close_ticks(std::vector<Schedule>& schedules) {
  const int64_t now = monotonic_ns();
  const int64_t ended = memory_->job_ended_ns;
  for (Schedule& s : schedules) {
    const int64_t due = memory_->zero_ns + s.next_tick * s.stream->period_ns();
    if (due <= (ended == 0 ? now : ended)) take_due(s, now);
  }
  for (Schedule& s : schedules) {
    s.stream->sample_closing((ended == 0 ? now : ended) - memory_->zero_ns, ring_);
  }
}

void Sampler::run_own_thread(SourceGroup& stream) {
  name_thread("ts-slow");
  while (memory_->first_sample_taken == 0) {
    if (!wait_until(monotonic_ns() + 1'000'000)) {
      --own_threads_running_;
      return;
    }
  }
  stream.open(surroundings_, ring_, memory_->next_schema);
  if (stream.is_worth_asking()) sample_alone(stream);
  --own_threads_running_;
}

void Sampler::sample_alone(SourceGroup& stream) {
  const int64_t zero = memory_->zero_ns;
  const int64_t period = stream.period_ns();
  int64_t tick = (monotonic_ns() - zero) / period;  // the first reading is at once
  while (wait_until(zero + tick * period)) {
    const int64_t begin = monotonic_ns();
    const int64_t late = begin - zero - tick * period;
    stream.sample(tick, late / 1000, ring_);
    const double gpu = publishes_status ? stream.last_mean("hw.gpu.utilization") : -1;
    if (gpu >= 0) memory_->gpu_percent = std::llround(100 * gpu);
    const int64_t end = monotonic_ns();
    const int64_t rest_until = end - zero + stream.rest_factor() * (end - begin);
    tick = std::max(tick + 1, (rest_until + period - 1) / period);
  }
  const int64_t ended = memory_->job_ended_ns;
  if (stream.has_only_counters() && ended != 0) stream.sample_closing(ended - zero, ring_);
}

void Sampler::publish_status(const SourceGroup& stream) {
  const double cpu = stream.last_sum("job.cpu.time");
  const double memory = stream.last_sum("job.memory.usage");
  const double disk = stream.last_sum("system.disk.io");
  memory_->job_cpu_us = cpu < 0 ? -1 : std::llround(cpu * 1e6);
  memory_->job_memory_bytes = std::llround(memory);
  memory_->disk_bytes = std::llround(disk);
}

}  // namespace trainscope
