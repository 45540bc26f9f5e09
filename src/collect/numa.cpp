// numa: memory nodes that pages were allocated on.
//
// Source: /sys/devices/system/node/nodeN/numastat. Units: pages. Permission: none. Cost: 10 µs per
// node. Caveats: counted where a page is allocated, not where it is used; on a machine with one
// node everything is a hit. hit: intended and allocated here; miss: intended for another node,
// allocated here; foreign: intended for here, allocated elsewhere; local and other: by a processor
// of this node or not.
#include <array>

#include "base/text.h"
#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::numa_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.numa.allocations", "{page}", Kind::counter, "node, type",
     "Pages allocated on a memory node, by whether it was the intended one"},
};

constexpr const char* kFolder = "/sys/devices/system/node";

struct Line {
  std::string_view name;
  const char* type;
};
constexpr std::array<Line, 6> kLines = {{{"numa_hit", "hit"},
                                         {"numa_miss", "miss"},
                                         {"numa_foreign", "foreign"},
                                         {"interleave_hit", "interleave"},
                                         {"local_node", "local"},
                                         {"other_node", "other"}}};

class NumaSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    nodes_.clear();
    const std::string folder = context.root + kFolder;
    Opened opened;
    for (const std::string& name : names_in(folder)) {
      if (!name.starts_with("node") || !parse_integer(name.substr(4))) continue;
      ProcFile file;
      if (!file.open(folder + "/" + name + "/numastat", 512)) continue;
      for (const Line& line : kLines) {
        opened.columns.push_back(
            {"system.numa.allocations", {{"node", name.substr(4)}, {"type", line.type}}, {}});
      }
      nodes_.push_back(std::move(file));
    }
    if (nodes_.empty()) {
      return all_missing(kMetrics, "the kernel shows no memory nodes in " + std::string(kFolder),
                         "");
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const auto part = values.subspan(n * kLines.size(), kLines.size());
      for (int64_t& value : part) value = kAbsent;
      Scanner scan(nodes_[n].read());
      while (!scan.done()) {
        const std::string_view name = scan.word();
        for (size_t i = 0; i < kLines.size(); ++i) {
          if (name == kLines[i].name) scan.number(part[i]);
        }
        scan.next_line();
      }
    }
    return Sampled::ok;
  }

 private:
  std::vector<ProcFile> nodes_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "numa",
    .summary = "memory nodes that pages were allocated on",
    .needs = "/sys/devices/system/node/node*/numastat",
    .scope = Scope::machine,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<NumaSource>()); },
};

}  // namespace trainscope::numa_collector
