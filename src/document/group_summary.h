// What the runs of a group have in common, and how far they are apart.
//
// Guarantees: the runs are opened one after the other, so memory does not grow with their number. A
// run that cannot be read is a member without values. Limits: one number per run and measure; how
// they change over time is a question for `sql`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace trainscope {

struct GroupMeasure {
  std::string_view key;    // in JSON
  std::string_view title;  // for people
  std::string_view unit;   // UCUM
};
inline constexpr std::array<GroupMeasure, 6> kGroupMeasures = {{
    {"duration_s", "duration", "s"},
    {"steps", "steps", "{step}"},
    {"steps_per_s", "steps/s", ""},
    {"step_p50_s", "step time p50", "s"},
    {"cpu_utilization", "CPU", "1"},
    {"memory_bytes", "peak memory", "By"},
}};
inline constexpr size_t kDurationMeasure = 0, kStepTimeMeasure = 3;
// Of a step, without the time in communication: where ranks wait for each other, all steps take the
// same time.
inline constexpr GroupMeasure kOwnWork = {"own_step_s", "own work per step", "s"};

struct GroupMember {
  RunListing run;
  std::array<std::optional<double>, kGroupMeasures.size()> values;
  std::optional<double> own_step_s;  // kOwnWork; empty: it reports no communication
};

// Of one measure over the members that have it.
struct Spread {
  size_t count = 0;  // 0: no other member means anything
  double mean = 0, min = 0, median = 0, max = 0;
  std::optional<double> standard_deviation;  // of a sample; unknown for a single one
  size_t min_at = 0, max_at = 0;             // places of the members
};

// The rank with the most own work per step; if that is not known of all, with the longest steps; if
// fewer than two ranks report steps, with the longest duration.
struct SlowestRank {
  size_t member = 0;
  GroupMeasure measure;
  double value = 0, median = 0;
};

struct GroupSummary {
  RunGroup group;
  std::vector<GroupMember> members;  // by rank or repeat
  std::array<Spread, kGroupMeasures.size()> spreads;
  std::optional<SlowestRank> slowest;  // of ranks that differ by more than a few percent
};

// Reads the runs of a group.
GroupSummary read_group(const RunGroup& group);
// The same of members that have been read.
GroupSummary summarize_group(const RunGroup& group, std::vector<GroupMember> members);

// The place of the member that has the metrics of the machine of member `at`; nothing if none has.
std::optional<size_t> machine_member(const GroupSummary& summary, size_t at);

}  // namespace trainscope
