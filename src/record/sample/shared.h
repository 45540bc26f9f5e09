// The memory that supervisor and recorder share: a memfd that the supervisor creates and both map.
//
// It outlives a recorder that dies: the next one finds here the ticks that were not on disk yet,
// the zero of time, and the state it needs to continue. All fields are plain numbers, so a
// half-dead writer leaves nothing unreadable. Limits: one supervisor, one recorder at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "collect/collect.h"
#include "record/sample/shared_steps.h"

namespace trainscope {

struct Manifest;  // model/model.h

inline constexpr size_t kMaxStreams = 32;
inline constexpr size_t kMaxSources = 32;
inline constexpr size_t kMaxChannels = 2;
inline constexpr size_t kMaxEventFiles = 256;
inline constexpr size_t kMaxSignals = 65;
inline constexpr size_t kChannelBytes = 64 * 1024;

// Every process that --instrument observes sends a mark that begins like this.
inline constexpr std::string_view kInstrumentedMark = "instrumented ";
// So do the marks of a job that takes part in a probe.
inline constexpr std::string_view kProbedMark = "probe ";
// The mark by which the modules inside a probed job state that they have found out enough.
inline constexpr std::string_view kProbeFinishedMark = "probe finished";

// Progress of a recorder that is ending: its sources are read and only the disk can delay it; all
// its data is in the run folder; the folder could not take all of it.
inline constexpr int32_t kWriting = 3, kAllWritten = 1, kNotAllWritten = 2;

// Which schemas, with how many columns, a stream's rows are made of.
struct StreamLayout {
  uint32_t entries = 0;
  struct Entry {
    uint32_t schema = 0, columns = 0;
  } entry[kMaxSources];
};

// Bytes of the job's output that were read but not passed on yet.
struct SharedBuffer {
  std::atomic<uint32_t> begin{0}, end{0};
  char data[kChannelBytes];
};

// How far an event file of the job was read. inode 0: none.
struct SharedEventFile {
  std::atomic<uint64_t> device{0}, inode{0};
  std::atomic<int64_t> offset{0}, shift_ns{0};
};

// A regular file that is the job's output and is followed: how far it was read.
struct SharedFollowed {
  std::atomic<int64_t> searched{-1};  // for steps; -1: not begun
  std::atomic<int64_t> logged{0};     // and is in output.log
  // What is being written there, and into which part, of which size until then: a recorder may be
  // killed when it has written and not noted that. write_size 0: nothing.
  std::atomic<int64_t> write_from{0}, write_size{0}, part_size{0};
  std::atomic<int32_t> part_is_first{0};
};

// State of the search for printed steps: the line of one stream that has not ended yet, and values
// that earlier lines announced (NaN: none).
struct SharedLine {
  static constexpr size_t kBytes = 4096;
  static constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  std::atomic<uint32_t> size{0};
  std::atomic<int64_t> time_ns{0};
  std::atomic<double> epoch{kNothing};
  std::atomic<double> bar_length{kNothing}, bar_step{kNothing};
  std::atomic<double> bar_outer{kNothing}, bar_outer_step{kNothing};
  std::atomic<double> bar_replaced{kNothing}, bar_rejected{kNothing};
  std::atomic<double> first_round{kNothing}, last_round{kNothing};
  std::atomic<double> counts_from_zero{kNothing};
  std::atomic<double> next_loss{kNothing}, next_accuracy{kNothing}, next_lr{kNothing};
  char text[kBytes] = {};
};

struct Shared {
  // Time; see begin_time(). zero_ns is 0 until the first sample is due.
  std::atomic<int64_t> zero_ns{0}, zero_boottime_ns{0}, zero_realtime_ns{0};
  std::atomic<int64_t> last_tick_ns{0};
  std::atomic<int64_t> next_tick{0};  // of stream 0: where a restarted recorder continues
  std::atomic<int32_t> first_sample_taken{0};

  // The job.
  std::atomic<int32_t> job_pid{0};
  std::atomic<int64_t> job_start_ticks{-1};  // distinguishes it from a later process with its pid
  std::atomic<int32_t> stated_job_pid{0};    // that an event has stated
  std::atomic<pid_t> gpu_pid{
      0};  // of the recorder's GPU process; not the job's though we may reap it
  std::atomic<int64_t> job_ended_ns{0};
  std::atomic<int32_t> job_stop_signal{0};         // that stopped the job; 0: it is not stopped
  std::atomic<int32_t> supervisor_has_stopped{0};  // itself, together with the job
  std::atomic<int32_t> stop{0};                    // the run is over: close it
  std::atomic<int32_t> finished{0};                // kWriting, then kAllWritten or kNotAllWritten
  Reaped reaped;
  JobTotals usage, switches;
  JobThreadState threads;
  JobFirstEnd first_end;

  std::atomic<int32_t> inventory_taken{0};

  // Recorders that died.
  std::atomic<int32_t> incarnation{0};
  std::atomic<int32_t> last_wait_status{0};
  std::atomic<int64_t> earlier_cpu_ns{0};

  // When the recorder saw each signal last: one that reached it too was sent to the whole group.
  std::atomic<int64_t> signal_seen_ns[kMaxSignals] = {};  // the last time
  std::atomic<int64_t> signal_sightings[kMaxSignals] = {};

  // Output.
  std::atomic<uint32_t> closed_channels{0};  // bit i: channel i has no reader any more
  std::atomic<int64_t> output_dropped{0};
  // Bit i: the copy lacks the newest bytes of channel i, and does not say so yet.
  std::atomic<uint32_t> output_gaps{0};
  SharedBuffer buffers[kMaxChannels];

  // Output that is followed and searched for steps.
  SharedFollowed followed[kMaxChannels];
  SharedLine lines[kMaxChannels + 1];            // the copy pipe, then the files
  std::atomic<int32_t> output_is_shared{0};      // somebody outside the job writes to the same file
  std::atomic<int32_t> output_may_be_shared{0};  // that cannot be excluded
  std::atomic<int64_t> output_unkept{0};      // bytes of the copy pipe on their way to output.log
  std::atomic<int64_t> output_unsearched{0};  // bytes in which no steps were searched for
  std::atomic<int32_t> output_is_polled{
      0};  // an event reported that timestamps of printed lines are coarse

  // The last sentences for the user, each shown once by the supervisor. Twice their number; odd
  // while one is being written.
  static constexpr uint32_t kMessages = 8;
  std::atomic<uint32_t> message_count{0};
  char messages[kMessages][512] = {};

  // Values of the status line; -1 unknown.
  std::atomic<int64_t> job_cpu_us{-1}, job_memory_bytes{-1}, disk_bytes{-1}, gpu_percent{-1};
  std::atomic<int64_t> step{-1};

  // Over all recorders of the run.
  std::atomic<int64_t> bytes_written{0}, missed_ticks{0};
  std::atomic<int32_t> storage_error{0};  // errno of a run folder that cannot be written now
  std::atomic<uint32_t> next_segment{1};
  std::atomic<uint32_t> next_schema{1};    // a number names one layout in the whole run
  std::atomic<int64_t> next_report{0};     // progress lines in the ring and in segments
  std::atomic<int64_t> sealed_reports{0};  // those in segments
  SharedSteps steps;
  std::atomic<int64_t> unreadable_reports{0}, refused_reports{0};
  std::atomic<int64_t> instrumented_processes{0};  // marks of what is observed or probed
  std::atomic<int32_t> is_probe{0};                // the run is one of `probe`
  std::atomic<int32_t> has_probe_finished{0};      // and its job has nothing more to find out
  // Lines of output in which steps were found; that were skipped because of their cost; whose
  // search was stopped; that were too long to be searched to their end.
  std::atomic<int64_t> matched_lines{0}, skipped_lines{0}, costly_lines{0}, cut_lines{0};

  SharedEventFile event_files[kMaxEventFiles];

  // The ring (see ring.h): byte counts since the beginning; the space follows this struct.
  std::atomic<uint64_t> ring_capacity{0}, ring_head{0}, ring_tail{0};
  std::atomic<int32_t> ring_is_damaged{0};  // until an event states it
  StreamLayout layouts[kMaxStreams];
};

// Leaves a sentence for the supervisor to show; one thread at a time.
void leave_message(Shared& shared, std::string_view text);
bool has_message(const Shared& shared, uint32_t shown);
// The next sentence after those that were `shown`, whole; nothing if there is none.
std::optional<std::string> take_message(Shared& shared, uint32_t& shown);

// Begins the time of the run: now is t = 0. False, without effect, if it has begun already.
// Supervisor and recorder both call this, and neither waits for the other: each completes what the
// other began and did not finish.
bool begin_time(Shared& shared);
// Is t = 0 known on all clocks?
bool has_time_begun(const Shared& shared);

// The manifest of a run whose time has begun.
Manifest with_zero(Manifest manifest, const Shared& shared);

// A handle to the mapping; copies of the process share it.
class SharedMemory {
 public:
  static Result<SharedMemory> create(size_t ring_bytes);
  SharedMemory() = default;
  // The run is over; no copy of this handle may be used any more.
  void unmap();
  Shared* operator->() const { return shared_; }
  Shared& operator*() const { return *shared_; }
  char* ring_space() const { return reinterpret_cast<char*>(shared_) + kRingOffset; }

 private:
  static constexpr size_t kRingOffset = (sizeof(Shared) + 4095) / 4096 * 4096;
  Shared* shared_ = nullptr;
};

}  // namespace trainscope
