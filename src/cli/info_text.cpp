#include "cli/info_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "cli/table.h"
#include "cli/training_text.h"

namespace trainscope {

namespace {

constexpr size_t kShownGaps = 5;

// The metrics that are shown without --all, in this order. With a label, only the series that has
// it; `moving` ones are left out when nothing happened in them, because there may be many devices.
struct Telling {
  std::string_view metric, label, value;
  bool moving = false;
};
constexpr std::array<Telling, 30> kTelling = {{
    {"train.step.duration", "", "", false},
    {"train.input_wait", "", "", false},
    {"train.throughput", "", "", false},
    {"train.loss", "", "", false},
    {"train.accuracy", "", "", false},
    {"job.cpu.utilization", "", "", false},
    {"job.cpu.time", "", "", false},
    {"job.memory.usage", "", "", false},
    {"job.process.count", "", "", false},
    {"job.thread.count", "", "", false},
    {"job.io.bytes", "", "", false},
    {"job.disk.io", "", "", false},
    {"job.paging.faults", "type", "major", true},
    {"system.cpu.utilization", "cpu", "all", false},
    {"system.cpu.run_queue", "", "", false},
    {"system.memory.utilization", "", "", false},
    {"system.swap.io", "", "", true},
    {"system.disk.utilization", "", "", true},
    {"system.disk.io", "", "", true},
    {"system.network.io", "", "", true},
    {"system.pressure.time", "kind", "some", true},
    {"cgroup.cpu.throttled_time", "", "", true},
    {"cgroup.memory.usage", "", "", true},
    {"hw.temperature", "", "", true},
    {"hw.power", "", "", true},
    {"hw.energy", "", "", true},
    {"hw.gpu.utilization", "", "", false},
    {"hw.gpu.memory.usage", "", "", false},
    {"hw.gpu.power", "", "", false},
    {"hw.gpu.temperature", "", "", false},
}};

class InfoWriter {
 public:
  InfoWriter(const RunView& run, const InfoStyle& style) : run_(run), style_(style) {}

  Result<std::string> write() {
    const Manifest& m = run_.manifest();
    out_ = styled(kBold, printable("run " + m.id + (m.name.empty() ? "" : " " + m.name))) + "\n";
    describe_job();
    describe_host();
    for (const auto& [label, text] : training_rows(run_)) row(label, text);
    describe_sampling();
    row("recording", overhead_text());
    row("settings", settings_text());
    for (const std::string& note : m.notes) row("note", printable(note));
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

  void describe_job() {
    const Manifest& m = run_.manifest();
    // The command is worth its whole length.
    if (m.imported_format.empty()) {
      out_ += styled(kDim, "  command    ") + command_text(m.command) + "\n";
    } else {
      row("imported", fmt::format("from {}, {}", m.imported_format, printable(m.imported_path)));
    }
    const std::string how = ending_text(m, run_.status());
    const bool coded = m.ended_by == EndedBy::exit && run_.status() == RunStatus::ended;
    const std::string when = m.started.empty() ? "not known when" : local_time_text(m.started);
    row("started", fmt::format("{}, {} {}; {}{}", when,
                               run_.status() == RunStatus::running ? "recorded so far" : "took",
                               duration_text(run_.duration_s()),
                               coded                       ? "exit code "
                               : m.imported_format.empty() ? ""
                                                           : "ending ",
                               how));
    std::string tags;
    for (const auto& [key, value] : m.tags) tags += (tags.empty() ? "" : ", ") + key + "=" + value;
    row("tags", printable(tags));
    row("note", printable(m.note));
    if (m.world_size > 1) row("rank", fmt::format("{} of {}", m.rank, m.world_size));
    if (m.after_exit_code) row("after", fmt::format("--after exit code {}", *m.after_exit_code));
    row("folder", printable(run_.path()));
  }

  void describe_host() {
    const Json host = parse_json(run_.host_json());
    std::string text = printable(run_.manifest().host_name);
    const auto add = [&](const std::string& part) {
      if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
    };
    const auto word = [&](const char* key) -> std::string {
      return host.is_object() && host.contains(key) && host[key].is_string()
                 ? printable(host[key].get<std::string>())
                 : "";
    };
    const auto number = [&](const char* key) -> double {
      return host.is_object() && host.contains(key) && host[key].is_number()
                 ? host[key].get<double>()
                 : 0;
    };
    add(word("cpu_model"));
    if (number("threads") > 0) add(fmt::format("{:.0f} CPUs", number("threads")));
    if (number("memory_bytes") > 0) add(bytes_text(number("memory_bytes")) + " memory");
    add(word("kernel"));
    row("host", text);
    if (!host.is_object() || !host.contains("gpus") || !host["gpus"].is_array()) return;
    for (const Json& gpu : host["gpus"]) {
      if (gpu.is_object() && gpu.contains("name") && gpu["name"].is_string()) {
        row("gpu", printable(gpu["name"].get<std::string>()));
      }
    }
  }

  void describe_sampling() {
    const Sampling& s = run_.sampling();
    std::string text =
        fmt::format("{} every {}, {} missed", s.samples, duration_text(s.period_s), s.missed);
    if (s.jitter_p50_s && s.jitter_p99_s) {
      text += fmt::format(", late by {} (p50) and {} (p99)", duration_text(*s.jitter_p50_s),
                          duration_text(*s.jitter_p99_s));
    }
    if (s.restarts > 0) text += fmt::format(", {} recorder restarts", s.restarts);
    row("samples", text);
    for (size_t i = 0; i < s.gaps.size() && i < kShownGaps; ++i) {
      row("gap", fmt::format("{:.3f} – {:.3f} s: {}", s.gaps[i].from_s, s.gaps[i].to_s,
                             printable(s.gaps[i].reason)));
    }
    if (s.gaps.size() > kShownGaps) {
      row("", fmt::format("and {} more gaps: --json has them", s.gaps.size() - kShownGaps));
    }
  }

  std::string overhead_text() const {
    const Overhead o = run_.overhead();
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    // Starting costs the same for a job of a millisecond; as a ratio it would say nothing.
    if (run_.duration_s() < 1 && o.cpu_s) {
      add(duration_text(*o.cpu_s) + " of CPU time");
    } else if (o.cpu_ratio) {
      add(percent_text(*o.cpu_ratio) + " of one CPU");
    }
    if (o.max_rss_bytes) add(bytes_text(*o.max_rss_bytes) + " memory");
    if (o.bytes_written) add(bytes_text(*o.bytes_written) + " written");
    if (o.bytes_per_value) add(fmt::format("{:.3g} bytes a value", *o.bytes_per_value));
    return text;
  }

  // Those that somebody chose, and from where; the defaults are the same everywhere.
  std::string settings_text() const {
    std::string text;
    for (const Setting& s : run_.manifest().settings) {
      if (s.from == "default" || s.value.empty()) continue;
      text += (text.empty() ? "" : ", ") + fmt::format("{}={} ({})", s.name, s.value, s.from);
    }
    return printable(text);
  }

  void add_series(Table& table, size_t i, bool moving, const Summary& summary) {
    const Series& s = run_.series()[i];
    const bool still = summary.max.value_or(0) == 0 || summary.delta.value_or(1) == 0;
    shown_.insert(i);
    if (moving && still) return;
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
      table.add({name, text(summary.mean), text(summary.min), text(summary.max), ""});
    }
  }

  // The series to show in their order, and whether only when they move.
  std::vector<std::pair<size_t, bool>> choose_series() const {
    std::vector<std::pair<size_t, bool>> chosen;
    const std::vector<Series>& series = run_.series();
    const auto choose = [&](size_t i, bool moving) {
      if (series[i].status != SeriesStatus::absent) chosen.emplace_back(i, moving);
    };
    for (size_t i = 0; i < series.size() && style_.all; ++i) choose(i, false);
    if (style_.all) return chosen;
    for (const Telling& telling : kTelling) {
      for (size_t i = 0; i < series.size(); ++i) {
        if (series[i].metric != telling.metric || !has_label(series[i], telling)) continue;
        choose(i, telling.moving);
      }
    }
    // Counters given with --counter are always shown.
    for (size_t i = 0; i < series.size(); ++i) {
      if (is_file_counter(series[i])) choose(i, false);
    }
    return chosen;
  }

  Status add_metrics() {
    Table table({"metric", ">mean", ">min", ">max", ">total"});
    const std::vector<Series>& series = run_.series();
    const auto chosen = choose_series();
    std::vector<size_t> places;
    for (const auto& [i, moving] : chosen) places.push_back(i);
    TS_TRY(const std::vector<Summary> summaries, run_.summaries_of(places));
    for (size_t k = 0; k < chosen.size(); ++k) {
      add_series(table, chosen[k].first, chosen[k].second, summaries[k]);
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

  static bool has_label(const Series& series, const Telling& telling) {
    if (telling.label.empty()) return true;
    return std::any_of(series.labels.begin(), series.labels.end(), [&](const auto& label) {
      return label.first == telling.label && label.second == telling.value;
    });
  }

  // Absent metrics, together where the reason is the same.
  void add_absent() {
    std::map<std::pair<std::string, std::string>, std::set<std::string>> groups;
    for (const Series& s : run_.series()) {
      if (s.status == SeriesStatus::absent) groups[{s.reason, s.remedy}].insert(s.metric);
    }
    if (groups.empty()) return;
    out_ += "\n" + styled(kDim, "  not measured") + "\n";
    for (const auto& [why, metrics] : groups) {
      std::string names = *metrics.begin();
      if (metrics.size() == 2) names += ", " + *metrics.rbegin();
      if (metrics.size() > 2) names += fmt::format(" and {} more", metrics.size() - 1);
      out_ += "  " + printable(names) + ": " + printable(why.first);
      out_ += why.second.empty() ? "\n" : "; " + printable(why.second) + "\n";
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
