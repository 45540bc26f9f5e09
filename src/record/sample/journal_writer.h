// The thread that writes the ring to the run folder (ts-write): every second, or sooner if the ring
// fills up.
//
// Guarantees: the user is told once when the run folder cannot be written and once when it can be
// again. A disk that hangs holds up this thread alone. Limits: never destroyed while its thread
// hangs in a write: the recorder's process ends without it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "model/manifest.h"
#include "record/sample/journal.h"
#include "record/sample/ring.h"

namespace trainscope {

// To write the last rows, with short pauses, as long as no attempt writes any of them.
inline constexpr int kClosingAttempts = 20;

class JournalWriter {
 public:
  struct Setup {
    std::string run_path;
    Manifest manifest;                     // without t = 0, which is added here
    std::function<void()> before_writing;  // each time
    std::function<void()> after_writing;
  };
  JournalWriter(Ring& ring, SharedMemory memory, Setup setup);

  void start();
  // The ring is half full.
  void write_soon();
  // Samples do not fit into the ring any more: tells the user why.
  void warn_of_lost_samples();
  // Nothing more is put into the ring: the last block is written, which is tried again for a moment
  // if the run folder cannot be written, and the thread ends.
  void close();
  // Whether it has ended; waits for it at most so long.
  bool wait_for_end(std::chrono::milliseconds limit);
  void wait_for_end();
  // After its end: the last block is on disk.
  bool is_sealed();

 private:
  void run();
  Status close_journal();
  void write_zero();
  void write_manifest_again();
  void report(const Status& status);
  void note_hang(int64_t took_ns);
  void post_message(const std::string& text);

  Ring& ring_;
  SharedMemory memory_;
  const Setup setup_;
  Journal journal_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  bool is_half_full_ = false, is_closing_ = false, has_ended_ = false, is_sealed_ = false;
  std::atomic<bool> has_failed_ = false;
  std::mutex message_mutex_;
};

}  // namespace trainscope
