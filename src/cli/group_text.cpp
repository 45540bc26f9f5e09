#include "cli/group_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "cli/group_rows.h"
#include "cli/run_text.h"
#include "cli/table.h"

namespace trainscope {

namespace {

constexpr size_t kShownMembers = 32, kShownOutcomes = 5;

class GroupWriter {
 public:
  GroupWriter(const GroupSummary& summary, const GroupStyle& style)
      : summary_(summary), style_(style), is_ranks_(summary.group.kind == GroupKind::ranks) {}

  std::string write() {
    const std::vector<const RunListing*> runs = listings();
    const std::string name = common_name(runs);
    out_ = styled(kBold, printable(fmt::format("group {}{}, {}", summary_.group.id,
                                               name.empty() ? "" : " " + name, size_text()))) +
           "\n";
    row("command", command_text(first().command));
    row("started", fmt::format("{}; {}", local_time_text(first().started), outcomes()));
    row("hosts", hosts());
    describe_machines();
    describe_slowest();
    if (!is_ranks_ && summary_.members.size() == 1) {
      row("spread", "unknown: only 1 repeat was recorded");
    }
    add_spreads();
    add_members();
    return std::move(out_);
  }

 private:
  const Manifest& first() const { return summary_.members.front().run.manifest; }

  std::vector<const RunListing*> listings() const {
    std::vector<const RunListing*> runs;
    for (const GroupMember& member : summary_.members) runs.push_back(&member.run);
    return runs;
  }

  std::string styled(const char* style, const std::string& text) const {
    return style_.colour ? style + text + kPlain : text;
  }

  void row(const std::string& label, const std::string& text) {
    if (text.empty()) return;
    out_ += styled(kDim, fmt::format("  {:<10} ", label)) + printable(text) + "\n";
  }

  std::string size_text() const {
    return group_size_text(summary_.group, static_cast<int64_t>(summary_.members.size()));
  }

  // "rank 3", "repeat 2"
  std::string member_text(size_t at) const {
    const Manifest& m = summary_.members[at].run.manifest;
    return is_ranks_ ? fmt::format("rank {}", m.rank) : fmt::format("repeat {}", m.repeat.index);
  }

  // "exit code 0", or each outcome with those that had it.
  std::string outcomes() const {
    std::map<std::string, std::vector<size_t>> by_text;
    for (size_t i = 0; i < summary_.members.size(); ++i) {
      const RunListing& run = summary_.members[i].run;
      by_text[full_outcome_text(run.manifest, run.status)].push_back(i);
    }
    if (by_text.size() == 1) return by_text.begin()->first;
    std::string text;
    for (const auto& [outcome, members] : by_text) {
      if (!text.empty()) text += "; ";
      text += outcome + ":";
      for (size_t k = 0; k < members.size() && k < kShownOutcomes; ++k) {
        text += (k == 0 ? " " : ", ") + member_text(members[k]);
      }
      if (members.size() > kShownOutcomes) {
        text += fmt::format(" and {} more", members.size() - kShownOutcomes);
      }
    }
    return text;
  }

  std::string hosts() const {
    std::map<std::string, int64_t> counts;
    for (const GroupMember& member : summary_.members) ++counts[member.run.manifest.host_name];
    std::string text;
    for (const auto& [host, count] : counts) {
      text += (text.empty() ? "" : ", ") + host;
      if (is_ranks_) text += fmt::format(" ({})", counted(count, "rank"));
    }
    return text;
  }

  // The ranks that have no metrics of their machine, by the run that has them.
  void describe_machines() {
    std::map<std::optional<size_t>, std::vector<size_t>> without;
    for (size_t i = 0; i < summary_.members.size(); ++i) {
      if (summary_.members[i].run.manifest.records_machine) continue;
      without[machine_member(summary_, i)].push_back(i);
    }
    for (const auto& [has, members] : without) {
      const std::string& host = summary_.members[members.front()].run.manifest.host_name;
      row("machine", has ? fmt::format("metrics of {} are in run {} ({})", host,
                                       summary_.members[*has].run.manifest.id, member_text(*has))
                         : fmt::format("metrics of {} are in the run of local rank 0, which "
                                       "was not found here",
                                       host));
    }
  }

  void describe_slowest() {
    if (!summary_.slowest) return;
    const SlowestRank& slowest = *summary_.slowest;
    const GroupMeasure& measure = slowest.measure;
    std::string text = fmt::format("{} (run {}): {} {}, median {}", member_text(slowest.member),
                                   summary_.members[slowest.member].run.manifest.id, measure.title,
                                   value_text(slowest.value, measure.unit),
                                   value_text(slowest.median, measure.unit));
    if (slowest.median > 0) {
      text += fmt::format(" ({} more)", percent_text(slowest.value / slowest.median - 1));
    }
    row("slowest", text);
  }

  void add_spreads() {
    Table table(is_ranks_ ? std::vector<std::string>{"measure", ">min", "", ">median", ">max", ""}
                          : std::vector<std::string>{"measure", ">runs", ">mean",
                                                     ">standard deviation", ">min", ">max"});
    for (size_t i = 0; i < kGroupMeasures.size(); ++i) {
      const Spread& spread = summary_.spreads[i];
      if (!has_measure(i)) continue;
      const auto text = [&](double value) { return cell(i, value); };
      const std::string title(kGroupMeasures[i].title);
      if (is_ranks_) {
        const bool differ = spread.min != spread.max;
        table.add({title, text(spread.min), differ ? member_text(spread.min_at) : "",
                   text(spread.median), text(spread.max),
                   differ ? member_text(spread.max_at) : ""});
      } else {
        table.add({title, fmt::format("{}", spread.count), text(spread.mean),
                   spread.standard_deviation ? text(*spread.standard_deviation) : "–",
                   text(spread.min), text(spread.max)});
      }
    }
    out_ += "\n" + table.text(style_.colour, 0, "  ");
  }

  // No column for what no run has.
  bool has_measure(size_t measure) const { return summary_.spreads[measure].count > 0; }

  static std::string cell(size_t measure, const std::optional<double>& value) {
    if (!value) return "–";
    const std::string_view unit = kGroupMeasures[measure].unit;
    return unit.empty() ? number_text(*value) : value_text(*value, unit);
  }

  void add_members() {
    std::vector<std::string> headings = {is_ranks_ ? ">rank" : ">repeat", "run", "host", "exit"};
    for (size_t k = 0; k < kGroupMeasures.size(); ++k) {
      if (has_measure(k)) headings.push_back(">" + std::string(kGroupMeasures[k].title));
    }
    Table table(headings);
    const size_t count = summary_.members.size();
    const size_t shown = style_.all ? count : std::min(count, kShownMembers);
    for (size_t i = 0; i < shown; ++i) {
      const RunListing& run = summary_.members[i].run;
      const auto& values = summary_.members[i].values;
      const Manifest& m = run.manifest;
      std::vector<std::string> cells = {fmt::format("{}", is_ranks_ ? m.rank : m.repeat.index),
                                        printable(m.id), printable(m.host_name),
                                        outcome_text(m, run.status)};
      for (size_t k = 0; k < values.size(); ++k) {
        if (has_measure(k)) cells.push_back(cell(k, values[k]));
      }
      table.add(std::move(cells));
    }
    out_ += "\n" + table.text(style_.colour, 0, "  ");
    if (shown < count) {
      out_ += styled(kDim, fmt::format("  and {} more: trainscope info {} --all\n", count - shown,
                                       printable(summary_.group.id)));
    }
  }

  const GroupSummary& summary_;
  const GroupStyle style_;
  const bool is_ranks_;
  std::string out_;
};

}  // namespace

std::string group_text(const GroupSummary& summary, const GroupStyle& style) {
  return GroupWriter(summary, style).write();
}

}  // namespace trainscope
