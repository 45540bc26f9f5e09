// Reads the sources at equal intervals and pushes rows into the ring.
//
// Guarantees: tick k is due at zero + k periods; a tick that cannot begin within half a period is
// missed and counted, never taken later; a source on its own thread cannot delay the others.
// Limits: the scheduler decides how punctual the ticks of a thread are; the jitter of each is
// recorded.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "collect/collect.h"
#include "record/sample/ring.h"

namespace trainscope {

// Sources that are read together: one stream of the run.
class SourceGroup {
 public:
  SourceGroup(uint32_t id, int64_t period_ns, const std::vector<const Collector*>& collectors);

  // Opens the sources and announces their schemas.
  void open(const SourceContext& context, Ring& ring, std::atomic<uint32_t>& next_schema);
  // Reads all sources once; false when the ring is full.
  bool sample(int64_t tick, int64_t late_us, Ring& ring);
  // Reads all sources once more, off the grid, for exact last values of counters; none without
  // counters.
  void sample_closing(int64_t time_ns, Ring& ring);

  // False when no source gives anything, now or later.
  bool is_worth_asking() const;
  bool is_open() const { return context_ != nullptr; }
  uint32_t id() const { return id_; }
  int64_t period_ns() const { return period_ns_; }
  // For a source on its own thread.
  const Collector& collector() const { return *slots_.front().collector; }
  // Sum of the present values of all columns of this metric in the last row; -1 if there are none.
  double last_sum(std::string_view metric, int64_t* count = nullptr) const;
  double last_mean(std::string_view metric) const;

 private:
  struct Slot {
    const Collector* collector = nullptr;
    std::unique_ptr<Source> source;
    uint32_t schema = 0;
    size_t offset = 0;
    std::vector<Column> columns;
    std::string announcement;  // its schema, until the ring has taken it
    bool waits = false;
  };
  void open_slot(size_t index);
  // Pushes the schema of the rows into the ring; false while it has no space for that: a row would
  // be read with another layout.
  bool announce();
  bool has_counters() const;
  using Reading = Sampled (Source::*)(std::span<int64_t>);
  Sampled read_slot(Slot& slot, Reading reading);
  void read_slots(Reading reading);

  uint32_t id_;
  int64_t period_ns_;
  std::vector<Slot> slots_;
  std::vector<int64_t> row_;
  const SourceContext* context_ = nullptr;
  Ring* ring_ = nullptr;
  std::atomic<uint32_t>* next_schema_ = nullptr;
};

class Sampler {
 public:
  Sampler(Ring& ring, SharedMemory memory, const SourceContext& context, SelfLink& self);
  ~Sampler();

  // Starts sampling every `period_ns`. `records_machine` is false on ranks that leave the machine's
  // own sources to local rank 0. `reason`: why the ticks before this were missed, after a restart.
  void start(int64_t period_ns, bool records_machine, const std::string& reason);
  // Takes the last due tick and the closing values, then ends all threads. A source that hangs is
  // abandoned: only its last values are lost.
  void stop();
  // The sources; set before start().
  std::span<const Collector* const> sources = collectors();
  bool publishes_status = false;
  // Written (eventfd) when the first sample is taken; -1: nothing waits.
  int ready_fd = -1;
  // Called when the ring takes no more rows, once until it does again.
  std::function<void()> on_refused;

 private:
  struct Schedule {
    SourceGroup* stream = nullptr;
    int64_t next_tick = 0;
  };
  // A source that may be slow or hang, and its thread.
  struct OwnThread {
    enum class State { waits, opens, reads, has_ended };
    SourceGroup* stream = nullptr;
    std::atomic<State> state{State::waits};
    std::atomic<int64_t> since_ns{0};  // in this state
    bool was_read_at_zero = false;
    std::thread thread;
    void enter(State next);
  };
  void run_ticks(std::vector<Schedule> schedules);
  void read_from_zero();
  void run_own_thread(OwnThread& own);
  void sample_alone(OwnThread& own);
  void note_first_sample();
  bool wait_for_first_sample();
  // Is it not worth waiting any longer for the closing values of this thread?
  static bool is_given_up(const OwnThread& own, int64_t stopped_ns);
  // Waits until this time or the stop; true if the time has come.
  bool wait_until(int64_t monotonic_ns);
  void take_due(Schedule& schedule, int64_t now);
  // In the manifest's count and in the series recorder.missed_ticks.
  void add_missed(int64_t count);
  void note_refused(int64_t tick, int64_t period_ns, bool kept);
  void note_missed(Schedule& schedule, int64_t first, int64_t count);
  void close_ticks(std::vector<Schedule>& schedules);
  void publish_status(const SourceGroup& stream);
  std::string why_missed();

  Ring& ring_;
  SharedMemory memory_;
  SourceContext context_;
  SelfLink& self_;
  std::vector<std::unique_ptr<SourceGroup>> streams_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread ticks_;
  std::vector<std::unique_ptr<OwnThread>> own_threads_;
  int64_t continued_ns_ = 0;
  int64_t refused_rows_ = 0, last_refused_tick_ = 0;  // without an event yet
  std::string restart_reason_;
};

}  // namespace trainscope
