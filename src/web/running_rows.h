// Rows of the table of runs that are being recorded, shared by all pages that show them: reading
// one takes all of its run.
//
// Guarantees: a row is read by one thread at a time however many ask for it, and again only so
// often that it takes a twentieth of a core. Limits: numbers may be so much older than the run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "web/opened_runs.h"

namespace trainscope {

class RunningRows {
 public:
  static constexpr size_t kMostRows = 256;

  // The row of a run as text: the last one, or what `read` gives if that one is old or "".
  std::string row(const std::string& id, const std::function<std::string()>& read) {
    const std::shared_ptr<Entry> entry = entry_of(id);
    const std::lock_guard lock(entry->mutex);
    if (!entry->row.empty() && monotonic_ns() < entry->due_ns) return entry->row;
    const int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    entry->row = read();
    const int64_t used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    entry->due_ns = monotonic_ns() + pause_after_reading_ns(used_ns);
    return entry->row;
  }

  // The run has ended: its row is kept elsewhere.
  void forget(const std::string& id) {
    const std::lock_guard lock(mutex_);
    entries_.erase(id);
  }

 private:
  struct Entry {
    std::mutex mutex;  // held while the row is read
    std::string row;
    int64_t due_ns = 0;
  };

  std::shared_ptr<Entry> entry_of(const std::string& id) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[id];
    if (entry == nullptr) entry = std::make_shared<Entry>();
    std::shared_ptr<Entry> found = entry;
    // Runs that vanished while they ran are never forgotten: any other row can be read again.
    if (entries_.size() > kMostRows) {
      entries_.erase(entries_.begin()->first == id ? std::next(entries_.begin())
                                                   : entries_.begin());
    }
    return found;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;  // by the id of the run
};

}  // namespace trainscope
