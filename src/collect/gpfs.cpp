// gpfs: bytes and operations of this node on every GPFS (Spectrum Scale) file system.
//
// Source: /usr/lpp/mmfs/bin/mmpmon -p, started once and queried with fs_io_s. Units: bytes, calls.
// Permission: mmpmon replies to root only. Cost: one query per second on its own thread; mmpmon
// itself takes some milliseconds. If it does not reply within 2 s, it is ended and tried again
// after a minute. Caveats: the counters are the node's, for all users, and root can reset them.
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "collect/collect.h"
#include "collect/support/devices/mmpmon.h"
#include "collect/support/missing.h"
#include "collect/support/programs/line_process.h"
#include "kernel/proc_file.h"

namespace trainscope::gpfs_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"gpfs.read.bytes", "By", Kind::counter, "fs", "Bytes read by programs on this node"},
    {"gpfs.write.bytes", "By", Kind::counter, "fs", "Bytes written by programs on this node"},
    {"gpfs.operations", "{operation}", Kind::counter, "fs, operation",
     "Operations of programs on this node"},
};

constexpr const char* kProgram = "/usr/lpp/mmfs/bin/mmpmon";
constexpr const char* kAsRoot = "sudo trainscope run -- COMMAND";
constexpr int64_t kDeadlineNs = 2 * kNsPerSecond;
constexpr int64_t kQuietNs = 50'000'000;
constexpr int64_t kRetryNs = 60 * kNsPerSecond;

class GpfsSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    systems_.clear();
    program_ = context.root + kProgram;
    if (::access(program_.c_str(), X_OK) != 0) {
      return all_missing(kMetrics, std::string(kProgram) + " does not exist", "");
    }
    const auto answer = ask();
    if (!answer) {
      return all_missing(kMetrics, "no reply from mmpmon: it needs root and a running GPFS",
                         kAsRoot);
    }
    Opened opened;
    Scanner scan(*answer);
    while (!scan.done()) {
      const auto line = parse_mmpmon(scan.line());
      if (!line || std::find(systems_.begin(), systems_.end(), line->fs) != systems_.end()) {
        continue;
      }
      systems_.emplace_back(line->fs);
      for (const MmpmonCounter& counter : kMmpmonCounters) {
        Labels labels = {{"fs", label_value(systems_.back())}};
        if (!counter.operation.empty()) labels.emplace_back("operation", counter.operation);
        opened.columns.push_back({counter.metric, std::move(labels), {}});
      }
    }
    if (systems_.empty()) return all_missing(kMetrics, "no GPFS file system is mounted here", "");
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    std::fill(values.begin(), values.end(), kAbsent);
    const auto answer = ask();
    if (!answer) return Sampled::ok;
    bool changed = false;
    Scanner scan(*answer);
    while (!scan.done()) {
      const auto line = parse_mmpmon(scan.line());
      if (!line) continue;
      const auto at = std::find(systems_.begin(), systems_.end(), line->fs);
      changed = changed || at == systems_.end();
      if (at == systems_.end()) continue;
      const auto first = (at - systems_.begin()) * static_cast<ptrdiff_t>(line->values.size());
      std::copy(line->values.begin(), line->values.end(), values.begin() + first);
    }
    return changed ? Sampled::layout_changed : Sampled::ok;
  }

 private:
  Result<std::string> ask() {
    const int64_t now = monotonic_ns();
    if (!mmpmon_.is_running()) {
      if (now < next_start_ns_) return Error("no reply");
      next_start_ns_ = now + kRetryNs;
      TS_CHECK_OK(mmpmon_.start_as_root(program_, {"-p"}));
    }
    return mmpmon_.ask("fs_io_s\n", kDeadlineNs, kQuietNs);
  }

  std::string program_;
  LineProcess mmpmon_;
  int64_t next_start_ns_ = 0;
  std::vector<std::string> systems_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "gpfs",
    .summary = "bytes and operations of this node on GPFS file systems",
    .needs = "mmpmon of GPFS, and root",
    .scope = Scope::machine,
    .pace = Pace::thread,
    .period_ns = kNsPerSecond,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<GpfsSource>()); },
};

}  // namespace trainscope::gpfs_collector
