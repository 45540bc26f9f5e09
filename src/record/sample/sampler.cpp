#include "record/sample/sampler.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "base/check.h"
#include "base/clock.h"
#include "record/sample/varied_time.h"

namespace trainscope {

namespace {

constexpr int64_t kMissedForGap = 3;
// Time for the threads of slow sources at the end of the run: a minimum for each, for a reading
// that began recently as long as a busy machine takes, and an upper bound for all.
constexpr int64_t kMoment = 100 * kNsPerMs, kReadingLimit = 500 * kNsPerMs,
                  kEndLimit = 1000 * kNsPerMs;
// Back off not only after an expensive reading, but also after a long one (it waits for a server).
constexpr int64_t kMostRestOfWaiting = 20;

void name_thread(const char* name) { prctl(PR_SET_NAME, name); }

bool is_recorded(const Collector& collector, bool records_machine) {
  return records_machine || collector.scope != Scope::machine || collector.is_on_every_rank;
}

}  // namespace

Sampler::Sampler(Ring& ring, SharedMemory memory, const SourceContext& context, SelfLink& self)
    : ring_(ring), memory_(memory), context_(context), self_(self) {}

Sampler::~Sampler() {
  if (ticks_.joinable()) ticks_.join();
  // A thread that hangs in a source cannot be joined; the process is about to end.
  for (const auto& own : own_threads_) own->thread.detach();
}

void Sampler::start(int64_t period_ns, bool records_machine, const std::string& reason) {
  restart_reason_ = reason;
  continued_ns_ = memory_->signal_seen_ns[SIGCONT];
  std::vector<const Collector*> tick, second;
  for (const Collector* collector : sources) {
    if (!is_recorded(*collector, records_machine)) continue;
    if (collector->pace == Pace::tick) tick.push_back(collector);
    if (collector->pace == Pace::second) second.push_back(collector);
  }
  streams_.push_back(std::make_unique<SourceGroup>(0, period_ns, tick));
  streams_.push_back(std::make_unique<SourceGroup>(1, std::max(period_ns, kNsPerSecond), second));
  const std::vector<Schedule> schedules = {{streams_[0].get(), 0}, {streams_[1].get(), 0}};
  for (const Collector* collector : sources) {
    if (!is_recorded(*collector, records_machine)) continue;
    if (collector->pace != Pace::thread) continue;
    CHECK(streams_.size() < kMaxStreams);
    streams_.push_back(std::make_unique<SourceGroup>(static_cast<uint32_t>(streams_.size()),
                                                     std::max(period_ns, collector->period_ns),
                                                     std::vector<const Collector*>{collector}));
    own_threads_.push_back(std::make_unique<OwnThread>());
    own_threads_.back()->stream = streams_.back().get();
  }
  ticks_ = std::thread([this, schedules] { run_ticks(schedules); });
  for (const auto& own : own_threads_) {
    own->thread = std::thread([this, &each = *own] { run_own_thread(each); });
  }
}

void Sampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  ticks_.join();
  const int64_t stopped_ns = monotonic_ns();
  for (const auto& own : own_threads_) {
    while (!is_given_up(*own, stopped_ns)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

void Sampler::OwnThread::enter(State next) {
  since_ns = monotonic_ns();
  state = next;
}

bool Sampler::is_given_up(const OwnThread& own, int64_t stopped_ns) {
  using State = OwnThread::State;
  const State state = own.state;
  if (state == State::has_ended) return true;
  const int64_t now = monotonic_ns();
  if (now - stopped_ns < kMoment) return false;
  // A driver that is still starting, and a reading that does not end, have no last values for us.
  const bool opens = state == State::opens && own.stream->collector().scope != Scope::job;
  const bool hangs = state != State::waits && now - own.since_ns > kReadingLimit;
  return opens || hangs || now - stopped_ns > kEndLimit;
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
  for (Schedule& s : schedules) s.stream->open(context_, ring_, memory_->next_schema);
  read_from_zero();
  if (!begin_time(*memory_)) {
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

// Opening them may take so long that the supervisor no longer waits: then they have no sample at t
// = 0, like all others.
void Sampler::read_from_zero() {
  for (const auto& own : own_threads_) {
    if (!own->stream->collector().counts_from_zero || memory_->zero_ns != 0) continue;
    own->stream->open(context_, ring_, memory_->next_schema);
    if (memory_->zero_ns != 0) continue;
    own->stream->sample(0, 0, ring_);
    own->was_read_at_zero = true;
  }
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
    memory_->next_tick = schedule.next_tick;
    memory_->last_tick_ns = now;
  }
  if (!in_time) return;
  const bool kept = stream.sample(latest, late / 1000, ring_);
  if (stream.id() != 0) return;
  note_refused(latest, period, kept);
  if (publishes_status) publish_status(stream);
  if (memory_->first_sample_taken == 0) note_first_sample();
}

void Sampler::note_refused(int64_t tick, int64_t period_ns, bool kept) {
  if (!kept) {
    if (refused_rows_++ == 0 && on_refused) on_refused();
    last_refused_tick_ = tick;
    add_missed(1);
    return;
  }
  // If the row fitted and this did not, it is reported with the next one.
  if (refused_rows_ > 0 &&
      push_event(ring_, last_refused_tick_ * period_ns, "gap",
                 fmt::format("{} samples were lost: the run folder could not be written and "
                             "the memory for samples was full",
                             refused_rows_))) {
    refused_rows_ = 0;
  }
}

void Sampler::note_first_sample() {
  {
    const std::lock_guard lock(mutex_);
    memory_->first_sample_taken = 1;
  }
  if (ready_fd >= 0) eventfd_write(ready_fd, 1);
  wake_.notify_all();
}

// False when the run is over and there was none.
bool Sampler::wait_for_first_sample() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return stopping_ || memory_->first_sample_taken != 0; });
  return memory_->first_sample_taken != 0;
}

void Sampler::add_missed(int64_t count) {
  memory_->missed_ticks += count;
  self_.missed_ticks = memory_->missed_ticks.load();
}

void Sampler::note_missed(Schedule& schedule, int64_t first, int64_t count) {
  if (schedule.stream->id() != 0 || count <= 0) return;
  add_missed(count);
  if (refused_rows_ > 0) {
    // Part of the gap that the refused rows leave.
    last_refused_tick_ = first + count - 1;
    return;
  }
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

void Sampler::run_own_thread(OwnThread& own) {
  name_thread("ts-slow");
  if (wait_for_first_sample()) {
    own.enter(OwnThread::State::opens);
    SourceGroup& stream = *own.stream;
    if (!stream.is_open()) stream.open(context_, ring_, memory_->next_schema);
    if (stream.is_worth_asking()) sample_alone(own);
  }
  own.enter(OwnThread::State::has_ended);
}

void Sampler::sample_alone(OwnThread& own) {
  SourceGroup& stream = *own.stream;
  const int64_t zero = memory_->zero_ns;
  const int64_t period = stream.period_ns();
  // The first reading is at once; those that were read with the first tick have had it.
  int64_t tick = (monotonic_ns() - zero) / period;
  if (own.was_read_at_zero) tick = std::max<int64_t>(tick, 1);
  int64_t due = zero + tick * period;
  std::minstd_rand random(static_cast<uint32_t>(zero));
  for (;;) {
    own.enter(OwnThread::State::waits);
    if (!wait_until(due)) break;
    own.enter(OwnThread::State::reads);
    const int64_t begin = monotonic_ns(), begin_cpu = thread_cpu_ns();
    const int64_t late = begin - zero - tick * period;
    stream.sample(tick, late / 1000, ring_);
    const double gpu = publishes_status ? stream.last_mean("hw.gpu.utilization") : -1;
    if (gpu >= 0) memory_->gpu_percent = std::llround(100 * gpu);
    const int64_t end = monotonic_ns(), cpu = thread_cpu_ns() - begin_cpu;
    const int64_t factor = stream.collector().rest_factor;
    const int64_t rest =
        std::max(factor * cpu, std::min(factor, kMostRestOfWaiting) * (end - begin));
    if (stream.collector().varies) {
      due = std::max(zero + varied_time_ns(due - zero, period, random), end + rest);
      tick = (due - zero) / period;
    } else {
      tick = std::max(tick + 1, (end - zero + rest + period - 1) / period);
      due = zero + tick * period;
    }
  }
  own.enter(OwnThread::State::reads);
  const int64_t ended = memory_->job_ended_ns;
  stream.sample_closing((ended == 0 ? monotonic_ns() : ended) - zero, ring_);
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
