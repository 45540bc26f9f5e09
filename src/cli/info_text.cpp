#include "cli/info_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "cli/metric_table.h"
#include "cli/run_text.h"
#include "cli/sparklines.h"
#include "cli/table.h"
#include "cli/tags.h"
#include "cli/training_text.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr size_t kShownGaps = 5, kShownEvents = 5;

class InfoWriter {
 public:
  InfoWriter(const RunView& run, const InfoStyle& style) : run_(run), style_(style) {}

  Result<std::string> write() {
    const Manifest& m = run_.manifest();
    out_ = styled(kBold, printable("run " + m.id + (m.name.empty() ? "" : " " + m.name))) + "\n";
    describe_job();
    describe_host();
    for (const auto& [label, text] : training_rows(run_)) row(label, text);
    row("verdict", verdict_row(m));
    describe_sampling();
    row("overhead", overhead_text(run_.overhead(), run_.duration_s(), Detail::info));
    row("settings", settings_text());
    for (const std::string& note : m.notes) row("note", printable(note));
    describe_progress();
    if (style_.events) {
      add_events();
      return std::move(out_);
    }
    TS_CHECK_OK(add_metrics());
    add_absent();
    return std::move(out_);
  }

 private:
  std::string styled(const char* style, const std::string& text) const {
    return style_.colour ? style + text + kPlain : text;
  }

  void row(const std::string& label, const std::string& text) {
    if (text.empty()) return;
    const std::string safe = printable(text);
    const std::string line = style_.width > 14 ? shortened(safe, style_.width - 13) : safe;
    out_ += styled(kDim, fmt::format("  {:<10} ", label)) + line + "\n";
  }

  // As stored at the end of the run.
  static std::string verdict_row(const Manifest& m) {
    if (!m.verdict) return "";
    const StoredVerdict& stored = *m.verdict;
    std::string text = stored.verdict;
    if (!stored.cause.empty()) text += " (" + stored.cause + ")";
    if (stored.confidence > 0)
      text += fmt::format(", confidence {:.0f} %", 100 * stored.confidence);
    return text + "; see: trainscope diagnose " + m.id;
  }

  void describe_job() {
    const Manifest& m = run_.manifest();
    // The command is worth its whole length.
    if (m.imported_format.empty()) {
      out_ += styled(kDim, "  command    ") + command_text(m.command) + "\n";
    } else {
      row("imported", fmt::format("from {}, {}", m.imported_format, printable(m.imported_path)));
    }
    const std::string when = m.started.empty() ? "unknown time" : local_time_text(m.started);
    row("started",
        fmt::format("{}, {} {}; {}", when,
                    run_.status() == RunStatus::running ? "recorded so far" : "took",
                    duration_text(run_.duration_s()), full_outcome_text(m, run_.status())));
    row("tags", printable(tags_text(m.tags)));
    row("note", printable(m.note));
    describe_group();
    if (m.after_exit_code) row("after", fmt::format("--after exit code {}", *m.after_exit_code));
    row("phases", phases_text());
    row("folder", printable(run_.path()));
    row("kept", kept_text());
  }

  // Files of --keep.
  std::string kept_text() const {
    const StoredFiles stored = stored_files(run_.path(), run_.manifest().zero_realtime_ns);
    if (stored.files.empty() && stored.left_out == 0) return "";
    int64_t bytes = 0;
    for (const StoredFile& file : stored.files) bytes += file.bytes;
    std::string text = fmt::format("{} ({}) in its folder kept",
                                   counted(static_cast<int64_t>(stored.files.size()), "file"),
                                   bytes_text(static_cast<double>(bytes)));
    if (stored.left_out > 0) text += fmt::format("; {} more matched --keep", stored.left_out);
    return text;
  }

  void describe_group() {
    const Manifest& m = run_.manifest();
    if (m.world_size > 1) {
      row("rank", fmt::format("{} of {}{}", m.rank, m.world_size,
                              m.job.empty() ? "" : ", job " + printable(m.job)));
    }
    if (!m.repeat.group.empty()) {
      row("repeat", fmt::format("{} of {} in {}", m.repeat.index, m.repeat.count, m.repeat.group));
    }
    if (m.records_machine) return;
    const auto other = find_machine_run(run_.path(), m);
    row("machine", other ? fmt::format("its metrics are in run {} (rank {})", other->manifest.id,
                                       other->manifest.rank)
                         : "its metrics are in the run of local rank 0, which was not found here");
  }

  // The parts of a run with --after: the job and the command after it.
  std::string phases_text() const {
    std::string text;
    for (const Phase& phase : run_.manifest().phases) {
      if (!text.empty()) text += ", ";
      text +=
          phase.name + " " + duration_text(phase.to_s.value_or(run_.duration_s()) - phase.from_s);
    }
    return text;
  }

  // What is wrong with reported progress: in full, because the refused line is at its end.
  void describe_progress() {
    size_t shown = 0;
    for (const Event& event : run_.events()) {
      if (event.kind != "progress" || ++shown > kShownEvents) continue;
      out_ += styled(kDim, "  progress   ") + printable(event.text) + "\n";
    }
  }

  void add_events() {
    Table table({">time", "kind", "event"});
    for (const Event& event : run_.events()) {
      table.add({fmt::format("{:.3f} s", event.time_s), event.kind, event.text});
    }
    out_ += table.empty() ? "\n  no events\n" : "\n" + table.text(style_.colour, 0, "  ");
  }

  void describe_host() {
    const Json host = parse_json(run_.host_json());
    std::string text = printable(run_.manifest().host_name);
    const auto add = [&](const std::string& part) {
      if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
    };
    const auto number = [&](const char* key) { return number_field(host, key).value_or(0); };
    add(printable(text_field(host, "cpu_model")));
    if (number("threads") > 0) add(fmt::format("{:.0f} CPUs", number("threads")));
    if (number("memory_bytes") > 0) add(bytes_text(number("memory_bytes")) + " memory");
    add(printable(text_field(host, "kernel")));
    row("host", text);
    if (!field(host, "gpus").is_array()) return;
    for (const Json& gpu : field(host, "gpus")) row("gpu", printable(text_field(gpu, "name")));
  }

  void describe_sampling() {
    const Sampling& s = run_.sampling();
    row("samples", sampling_text(s, Detail::info));
    for (size_t i = 0; i < s.gaps.size() && i < kShownGaps; ++i) {
      row("gap", fmt::format("{:.3f} – {:.3f} s: {}", s.gaps[i].from_s, s.gaps[i].to_s,
                             printable(s.gaps[i].reason)));
    }
    if (s.gaps.size() > kShownGaps) {
      row("", fmt::format("and {} more gaps; use --json to list them", s.gaps.size() - kShownGaps));
    }
  }

  // Settings that the user chose, and their origin; the defaults are the same everywhere.
  std::string settings_text() const {
    std::string text;
    for (const Setting& s : run_.manifest().settings) {
      if (s.from == "default" || s.value.empty()) continue;
      text += (text.empty() ? "" : ", ") + fmt::format("{}={} ({})", s.name, s.value, s.from);
    }
    return printable(text);
  }

  void add_series(Table& table, size_t i, bool skips_idle, const Summary& summary,
                  const std::string& chart) {
    const Series& s = run_.series()[i];
    const bool is_idle = summary.max.value_or(0) == 0 || summary.delta.value_or(1) == 0;
    shown_.insert(i);
    if (skips_idle && is_idle) return;
    // What --counter read is a ratio only by accident, and a loss is none.
    const bool is_ratio = !is_file_counter(s) && s.metric != "train.loss";
    const std::string unit = s.unit == "1" && !is_ratio ? "" : s.unit;
    const auto text = [&](const std::optional<double>& value) {
      return value ? value_text(*value, unit) : "";
    };
    const std::string name =
        printable(series_text(s)) + (s.status == SeriesStatus::stale ? " (stale)" : "");
    if (s.kind == Kind::counter) {
      table.add(
          {name, summary.rate ? rate_text(*summary.rate, unit) : "", "", "", text(summary.delta)});
    } else {
      table.add({name, text(summary.mean), text(summary.min), text(summary.max), chart});
    }
  }

  // The series to show in their order, and whether idle ones are left out.
  std::vector<std::pair<size_t, bool>> choose_series() const {
    std::vector<std::pair<size_t, bool>> chosen;
    const std::vector<Series>& series = run_.series();
    const auto choose = [&](size_t i, bool skips_idle) {
      if (series[i].status != SeriesStatus::absent) chosen.emplace_back(i, skips_idle);
    };
    for (size_t i = 0; i < series.size() && style_.all; ++i) choose(i, false);
    if (style_.all) return chosen;
    for (const MetricSpec& spec : main_metrics()) {
      for (size_t i = 0; i < series.size(); ++i) {
        if (series[i].metric != spec.name || !has_label(series[i], spec.info)) continue;
        choose(i, spec.info.skips_idle);
      }
    }
    // Counters given with --counter are always shown.
    for (size_t i = 0; i < series.size(); ++i) {
      if (is_file_counter(series[i])) choose(i, false);
    }
    return chosen;
  }

  Status add_metrics() {
    const std::vector<Series>& series = run_.series();
    const auto chosen = choose_series();
    std::vector<size_t> places;
    for (const auto& [i, skips_idle] : chosen) places.push_back(i);
    TS_TRY(const std::vector<Summary> summaries, run_.summaries_of(places));
    std::vector<std::string> charts(places.size());
    if (style_.charts) {
      TS_TRY(charts, sparklines_of(run_, places, *style_.charts));
    }
    const auto fill = [&](const char* last) {
      Table table({"metric", ">mean", ">min", ">max", last});
      for (size_t k = 0; k < chosen.size(); ++k) {
        add_series(table, chosen[k].first, chosen[k].second, summaries[k], charts[k]);
      }
      return table;
    };
    // A gauge has no total: its chart takes that place, if the lines fit then.
    constexpr std::string_view kTotalOrTrend = ">total or trend";
    Table table = fill(kTotalOrTrend.data());
    if (!style_.charts || table.width_before_last() + kTotalOrTrend.size() + 1 > style_.width) {
      charts.assign(places.size(), "");
      table = fill(">total");
    }
    if (!table.empty()) out_ += "\n" + table.text(style_.colour, 0, "  ");
    const auto present = std::count_if(series.begin(), series.end(), [](const Series& s) {
      return s.status != SeriesStatus::absent;
    });
    const auto hidden = static_cast<int64_t>(present) - static_cast<int64_t>(shown_.size());
    if (hidden > 0) {
      out_ += styled(kDim, fmt::format("  and {} more series: trainscope info {} --all\n", hidden,
                                       printable(run_.manifest().id)));
    }
    return {};
  }

  static bool is_file_counter(const Series& series) {
    return series.metric.starts_with("counter.") && !series.derived;
  }

  static bool has_label(const Series& series, const InfoPlace& place) {
    if (place.label.empty()) return true;
    return std::any_of(series.labels.begin(), series.labels.end(), [&](const auto& label) {
      return label.first == place.label && label.second == place.label_value;
    });
  }

  // Absent metrics, grouped by reason. Those that nothing can be done about are only counted.
  void add_absent() {
    std::map<std::pair<std::string, std::string>, std::set<std::string>> groups;
    std::set<std::string> unavailable;
    for (const Series& s : run_.series()) {
      if (s.status != SeriesStatus::absent) continue;
      if (s.remedy.empty() && !style_.all && !is_file_counter(s)) {
        unavailable.insert(s.metric);
      } else {
        groups[{s.reason, s.remedy}].insert(s.metric);
      }
    }
    if (!groups.empty() || !unavailable.empty()) {
      out_ += "\n" + styled(kDim, "  not measured") + "\n";
    }
    for (const auto& [cause, metrics] : groups) {
      std::string names = *metrics.begin();
      if (metrics.size() == 2) names += ", " + *metrics.rbegin();
      if (metrics.size() > 2) names += fmt::format(" and {} more", metrics.size() - 1);
      out_ += "  " + printable(names) + ": " + printable(cause.first);
      out_ += cause.second.empty() ? "\n" : "; " + printable(cause.second) + "\n";
    }
    if (!unavailable.empty()) {
      out_ += fmt::format("  {} that this machine or job does not have: trainscope info {} --all\n",
                          counted(static_cast<int64_t>(unavailable.size()), "metric"),
                          printable(run_.manifest().id));
    }
  }

  const RunView& run_;
  const InfoStyle style_;
  std::string out_;
  std::set<size_t> shown_;
};

}  // namespace

Result<std::string> info_text(const RunView& run, const InfoStyle& style) {
  return InfoWriter(run, style).write();
}

}  // namespace trainscope
