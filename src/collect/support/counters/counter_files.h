// Reads the counters given with --counter: the common part of the collectors `counters` (local
// files, on the tick) and `counters_slow` (files on mounts that may hang, on a thread).
//
// Guarantees: a file is read once per pass for all its counters, through a descriptor that stays
// open; a file that was replaced by rename is followed at once; a counter without a value does not
// affect others. No allocation on a tick except when a file outgrows the buffer or new files are
// searched for (once per second). Limits: the first MiB of a text, kMaxFiles of a pattern, regular
// files only.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "collect/collect.h"
#include "collect/support/counters/counter_row.h"
#include "collect/support/counters/counter_spec.h"
#include "kernel/mounts.h"
#include "kernel/schedstat.h"

namespace trainscope {

inline constexpr MetricSpec kCounterMetrics[] = {
    {"counter.NAME", "1", Kind::gauge, "file",
     "Value of --counter, with the given unit and kind; the label only if the path is a pattern. "
     "counter.NAME.rate is derived for kind=counter and rate"},
};

class CounterFiles : public Source {
 public:
  enum class MountKind { local_files, slow_mounts };
  // `wait_ns`: for how long this thread was ready to run without a CPU, so far.
  explicit CounterFiles(MountKind mount_kind, std::function<int64_t()> wait_ns = thread_wait_ns)
      : mount_kind_(mount_kind), wait_ns_(std::move(wait_ns)) {}

  Opened open(const SourceContext& context) override;
  Sampled sample(std::span<int64_t> values) override;
  Sampled sample_last(std::span<int64_t> values) override;

 private:
  // The state of a SPEC that all its files share.
  struct SpecState {
    CounterSpec spec;
    std::unique_ptr<RowPattern> pattern;  // null: no match=
    std::string metric;                   // counter.NAME
    MetricSpec described;
    std::string path;  // absolute
    bool is_pattern = false;
    bool elsewhere = false;  // read by the other collector
    std::string reason;      // it has no file
  };
  // A SPEC in one file: a series, once it has given a value.
  struct Counter {
    SpecState* state = nullptr;
    bool has_value = false;
    uint64_t first = 0;  // of d
    bool has_first = false;
    size_t column = 0;
    bool has_column = false;
    Extraction last = Extraction::no_row;
  };
  struct File {
    std::string path;  // absolute
    std::string full;  // with the root
    bool from_pattern = false;
    UniqueFd fd;
    dev_t device = 0;
    ino_t inode = 0;
    bool of_kernel = false;  // in procfs or sysfs, where nothing is renamed
    bool ends_with_newline = false;
    int64_t skip_until_ns = 0;
    int slow_readings = 0;  // in a row
    std::string reason;     // it cannot be read
    std::vector<Counter> counters;
  };

  void name_counters(const SourceContext& context);
  bool is_ours(const std::string& path) const;
  // Adds files that are not known yet.
  void find_files();
  void add(SpecState& state, const std::string& path);
  void drop_vanished();
  Opened layout();

  bool open_file_of(File& file) const;
  // Opens the file that has the path now, when that is another one.
  bool follow(File& file) const;
  bool read(File& file);
  Extraction value_of(const File& file, const Counter& counter, uint64_t& bits) const;
  // Reads the file and fills in its values; true when a counter gave its first.
  bool take(File& file, std::span<int64_t> values, int64_t now);

  MountKind mount_kind_;
  std::function<int64_t()> wait_ns_;
  bool named_ = false;
  std::string root_;
  std::vector<Mount> mounts_;
  std::deque<SpecState> counters_;  // of stable address: series point to them
  std::list<File> files_;
  std::unordered_map<std::string, File*> by_path_;
  std::vector<char> buffer_;
  CounterText text_;
  std::function<int64_t()> now_ns_ = monotonic_ns;
  int64_t next_search_ns_ = 0;
};

}  // namespace trainscope
