// paging: page faults, and pages moved to and from swap.
//
// Source: /proc/vmstat. Units: faults; pages of the kernel's size, stored as pages. Permission:
// none. Cost: 11 µs per reading and 1 µs of parsing (the kernel adds up every processor's
// counters). Caveats: minor = pgfault - pgmajfault; a major fault read from storage.
#include <unistd.h>

#include <array>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::paging_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.paging.faults", "{fault}", Kind::counter, "type",
     "Page faults; major ones read from storage"},
    {"system.swap.io", "By", Kind::counter, "direction", "Bytes read from and written to swap",
     in_info(304).unless_idle()},
};

enum Key : size_t { faults, major, swap_in, swap_out, kKeys };
constexpr std::array<std::string_view, kKeys> kNames = {"pgfault ", "pgmajfault ", "pswpin ",
                                                        "pswpout "};
using Values = std::array<int64_t, kKeys>;

Values parse(std::string_view text) {
  Values values;
  values.fill(kAbsent);
  size_t found = 0;
  Scanner scan(text);
  while (!scan.done() && found < kKeys) {
    if (scan.take("p")) {  // most lines begin otherwise
      for (size_t key = 0; key < kKeys; ++key) {
        if (!scan.take(kNames[key].substr(1))) continue;
        if (scan.number(values[key])) ++found;
        break;
      }
    }
    scan.next_line();
  }
  return values;
}

// The kernel returns a page at a time, and the needed lines are mostly on the first.
Values read(ProcFile& file) {
  const Values values = parse(file.read());
  const bool whole = values[faults] != kAbsent && values[major] != kAbsent;
  return whole ? values : parse(file.read_all());
}

class PagingSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    const std::string path = "/proc/vmstat";
    if (Status status = file_.open(context.root + path, 64 * 1024); !status) {
      return all_missing(kMetrics, read_error_text(path, status.error()), kMountProc);
    }
    const Values values = read(file_);
    if (values[faults] == kAbsent || values[major] == kAbsent) {
      return all_missing(kMetrics, path + " has no pgfault and pgmajfault", "");
    }
    Opened opened;
    opened.columns.push_back({"system.paging.faults", {{"type", "major"}}, {}});
    opened.columns.push_back({"system.paging.faults", {{"type", "minor"}}, {}});
    if (values[swap_in] == kAbsent) {
      opened.missing.push_back({"system.swap.io", "this kernel is built without swap", ""});
      return opened;
    }
    const Scale pages{sysconf(_SC_PAGESIZE), 1};
    opened.columns.push_back({"system.swap.io", {{"direction", "in"}}, pages});
    opened.columns.push_back({"system.swap.io", {{"direction", "out"}}, pages});
    return opened;
  }

  Sampled sample(std::span<int64_t> out) override {
    const Values values = read(file_);
    const bool known = values[faults] != kAbsent && values[major] != kAbsent;
    const std::array<int64_t, 4> all = {values[major],
                                        known ? values[faults] - values[major] : kAbsent,
                                        values[swap_in], values[swap_out]};
    for (size_t i = 0; i < out.size(); ++i) out[i] = all[i];
    return Sampled::ok;
  }

 private:
  ProcFile file_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "paging",
    .summary = "page faults and swapping",
    .needs = "/proc/vmstat",
    .scope = Scope::machine,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<PagingSource>()); },
};

}  // namespace trainscope::paging_collector
