// memory: memory and swap of the machine by use.
//
// Source: /proc/meminfo. Units: the kernel's kB, stored as pages of 4 KiB (as kB if they are not
// multiples, as under lxcfs). Permission: none. Cost: one pread, 2 to 3 µs, and 1 µs of parsing.
// Caveats: cached includes the reclaimable slabs and used is the rest, as with free(1), so tmpfs
// and shared memory count as cached and the kernel's own memory as used: used, free, cached and
// buffers add up to the total. `available` overlaps them: the kernel's estimate of the memory
// available to a new program.
#include <algorithm>
#include <array>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::memory_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.memory.usage", "By", Kind::gauge, "state",
     "Memory by use; cached includes the reclaimable slabs, used is the total minus the others"},
    {"system.memory.limit", "By", Kind::gauge, "", "Memory of the whole machine"},
    {"system.swap.usage", "By", Kind::gauge, "state", "Used and free swap space"},
};

enum Key : size_t { total, free, available, buffers, cached, swap_total, swap_free, slab, kKeys };
constexpr std::array<std::string_view, kKeys> kNames = {
    "MemTotal:", "MemFree:",   "MemAvailable:", "Buffers:",
    "Cached:",   "SwapTotal:", "SwapFree:",     "SReclaimable:"};

using Values = std::array<int64_t, kKeys>;

Values parse(std::string_view text) {
  Values values;
  values.fill(kAbsent);
  size_t found = 0;
  Scanner scan(text);
  while (!scan.done() && found < kKeys) {
    for (size_t key = 0; key < kKeys; ++key) {
      if (!scan.take(kNames[key])) continue;
      if (scan.number(values[key])) ++found;
      break;
    }
    scan.next_line();
  }
  return values;
}

// first - the others; absent if one of them is, or if they are inconsistent.
int64_t less(int64_t first, std::initializer_list<int64_t> others) {
  if (first == kAbsent) return kAbsent;
  for (const int64_t other : others) {
    if (other == kAbsent) return kAbsent;
    first -= other;
  }
  return first < 0 ? kAbsent : first;
}

int64_t sum(int64_t a, int64_t b) { return a == kAbsent || b == kAbsent ? kAbsent : a + b; }

class MemorySource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    const std::string path = "/proc/meminfo";
    if (Status status = file_.open(context.root + path, 16 * 1024); !status) {
      return all_missing(kMetrics, read_error_text(path, status.error()), kMountProc);
    }
    const Values values = parse(file_.read());
    if (values[total] == kAbsent) {
      return all_missing(kMetrics, path + " does not state the size of the memory", "");
    }
    const bool pages = std::all_of(values.begin(), values.end(),
                                   [](int64_t kb) { return kb == kAbsent || kb % 4 == 0; });
    kb_per_unit_ = pages ? 4 : 1;
    const Scale scale{1024 * kb_per_unit_, 1};
    Opened opened;
    for (const char* state : {"used", "free", "cached", "buffers", "available"}) {
      opened.columns.push_back({"system.memory.usage", {{"state", state}}, scale});
    }
    opened.columns.push_back({"system.memory.limit", {}, scale});
    has_swap_ = values[swap_total] > 0;
    if (has_swap_) {
      opened.columns.push_back({"system.swap.usage", {{"state", "used"}}, scale});
      opened.columns.push_back({"system.swap.usage", {{"state", "free"}}, scale});
    } else {
      opened.missing.push_back({"system.swap.usage", "this machine has no swap space", ""});
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> out) override {
    const Values values = parse(file_.read());
    if (!has_swap_ && values[swap_total] > 0) return Sampled::layout_changed;
    const std::array<int64_t, 8> all = {
        less(values[total], {values[free], values[buffers], values[cached], values[slab]}),
        values[free],
        sum(values[cached], values[slab]),
        values[buffers],
        values[available],
        values[total],
        less(values[swap_total], {values[swap_free]}),
        values[swap_free]};
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = all[i] == kAbsent ? kAbsent : all[i] / kb_per_unit_;
    }
    return Sampled::ok;
  }

 private:
  ProcFile file_;
  int64_t kb_per_unit_ = 4;
  bool has_swap_ = false;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "memory",
    .summary = "memory and swap by use",
    .needs = "/proc/meminfo",
    .scope = Scope::machine,
    .pace = Pace::tick,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<MemorySource>()); },
};

}  // namespace trainscope::memory_collector
