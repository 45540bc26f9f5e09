#include "document/document.h"
#include "document/gaps.h"

#include <cmath>

#include "analyze/analyze.h"
#include "base/json.h"
#include "model/training.h"

namespace trainscope {

namespace {

Json run_json(const RunView& run) {
  const Manifest& m = run.manifest();
  const std::optional<RunListing> machine_run = find_machine_run(run.path(), m);
  return {{"id", m.id},
          {"name", text_or_null(m.name)},
          {"note", text_or_null(m.note)},
          {"path", run.path()},
          {"tags", tags_json(m)},
          {"started", text_or_null(m.started)},
          {"ended", text_or_null(m.ended)},
          {"duration_s", run.duration_s()},
          {"status", run_status_name(run.status())},
          {"rank", m.rank},
          {"world_size", m.world_size},
          {"local_rank", m.local_rank},
          {"machine_metrics_run", machine_run ? Json(machine_run->manifest.id) : Json(nullptr)},
          {"trainscope_version", text_or_null(m.trainscope_version)},
          {"imported_format", text_or_null(m.imported_format)},
          {"imported_path", text_or_null(m.imported_path)},
          {"notes", m.notes}};
}

Json job_json(const RunView& run) {
  const Manifest& m = run.manifest();
  // A run that was never closed: supervisor and recorder were killed, or the machine went down.
  const bool unclosed = m.ended_by == EndedBy::running && run.status() != RunStatus::running;
  const EndedBy ended_by = unclosed ? EndedBy::unknown : m.ended_by;
  return {{"command", m.command},
          {"exit_code", value_or_null(m.exit_code)},
          {"signal", value_or_null(m.signal)},
          {"ended_by", text_or_null(ended_by_name(ended_by))},
          {"attached", m.attached},
          {"working_directory", text_or_null(m.working_directory)},
          {"after_command", text_or_null(m.after_command)},
          {"after_exit_code", value_or_null(m.after_exit_code)}};
}

Json gpus_json(const Json& found) {
  Json gpus = Json::array();
  if (!found.is_array()) return gpus;
  for (const Json& item : found) {
    Json gpu = item.is_object() ? item : Json::object();
    for (const char* key : {"index", "uuid", "name", "memory_bytes"}) {
      if (!gpu.contains(key)) gpu[key] = nullptr;
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

// The memory of a GPU that only its driver's library provides: it is among the series.
void add_gpu_memory(const RunView& run, Json& gpus) {
  for (size_t i = 0; i < run.series().size(); ++i) {
    const Series& series = run.series()[i];
    if (series.metric != "hw.gpu.memory.limit" || series.labels.empty()) continue;
    const auto summary = run.summary(i);
    if (!summary || !summary->last) continue;
    for (Json& gpu : gpus) {
      const bool same =
          gpu["index"].is_number() && dump_json(gpu["index"]) == series.labels[0].second;
      if (same && gpu["memory_bytes"].is_null()) gpu["memory_bytes"] = std::llround(*summary->last);
    }
  }
}

Json host_json(const RunView& run) {
  Json host = parse_json(run.host_json());
  if (!host.is_object()) host = Json::object();
  for (const char* key : {"name", "kernel", "cpu_model", "cores", "threads", "memory_bytes"}) {
    if (!host.contains(key)) host[key] = nullptr;
  }
  if (host["name"].is_null()) host["name"] = text_or_null(run.manifest().host_name);
  host["gpus"] = gpus_json(host.contains("gpus") ? host["gpus"] : Json());
  add_gpu_memory(run, host["gpus"]);
  return host;
}

Json settings_json(const Manifest& manifest) {
  Json settings = Json::array();
  for (const Setting& s : manifest.settings) {
    settings.push_back({{"name", s.name}, {"value", s.value}, {"from", s.from}});
  }
  return settings;
}

Json sampling_json(const Sampling& s) {
  return {{"period_s", s.period_s > 0 ? Json(s.period_s) : Json(nullptr)},
          {"samples", s.samples},
          {"missed", s.missed},
          {"restarts", s.restarts},
          {"jitter_p50_s", value_or_null(s.jitter_p50_s)},
          {"jitter_p99_s", value_or_null(s.jitter_p99_s)},
          {"gaps", gaps_json(s.gaps)},
          {"left_out_gaps", s.left_out_gaps}};
}

Json overhead_json(const Overhead& o) {
  return {{"cpu_s", value_or_null(o.cpu_s)},
          {"cpu_ratio", value_or_null(o.cpu_ratio)},
          {"max_rss_bytes", value_or_null(o.max_rss_bytes)},
          {"bytes_written", value_or_null(o.bytes_written)},
          {"bytes_per_value", value_or_null(o.bytes_per_value)}};
}

Json metric_json(const Series& s, const Summary& summary) {
  Json labels = Json::object();
  for (const auto& [name, value] : s.labels) labels[name] = value;
  return {{"name", s.metric},
          {"labels", std::move(labels)},
          {"unit", s.unit},
          {"kind", kind_name(s.kind)},
          {"derived", s.derived},
          {"status", status_name(s.status)},
          {"reason", text_or_null(s.reason)},
          {"remedy", text_or_null(s.remedy)},
          {"samples", summary.samples},
          {"min", value_or_null(summary.min)},
          {"mean", value_or_null(summary.mean)},
          {"max", value_or_null(summary.max)},
          {"last", value_or_null(summary.last)},
          {"delta", value_or_null(summary.delta)},
          {"rate", value_or_null(summary.rate)}};
}

// The run's own (--after), then phases that are not part of each step: a long run has a million of
// the others, which `sql` provides as `phases`.
Json phases_json(const RunView& run) {
  Json phases = Json::array();
  for (const Phase& p : run.manifest().phases) {
    phases.push_back({{"name", p.name}, {"from_s", p.from_s}, {"to_s", value_or_null(p.to_s)}});
  }
  for (const TrainingPhase& p : run.training().phases) {
    phases.push_back({{"name", p.name},
                      {"from_s", p.from_s},
                      {"to_s", p.is_open ? Json(nullptr) : Json(p.to_s)}});
  }
  return phases;
}

Json events_json(const RunView& run) {
  Json events = Json::array();
  for (const Event& event : run.events()) {
    events.push_back({{"time_s", event.time_s}, {"kind", event.kind}, {"text", event.text}});
  }
  return events;
}

Json senders_json(const std::vector<StepSender>& senders) {
  Json all = Json::array();
  for (const StepSender& sender : senders) {
    all.push_back({{"who", text_or_null(sender.who)}, {"observed", sender.observed}});
  }
  return all;
}

Json steps_json(const Training& training) {
  const StepStatistics& statistics = training.statistics;
  const bool has_steps = training.observed > 0;
  return {{"source", text_or_null(training.source)},
          {"other_sources", training.unused_sources},
          {"other_senders", senders_json(training.other_step_senders)},
          {"count", value_or_null(training.count)},
          {"observed", has_steps ? Json(training.observed) : Json(nullptr)},
          {"warmup", has_steps ? Json(training.warmup_steps) : Json(nullptr)},
          {"begin_s", has_steps ? Json(training.begin_s) : Json(nullptr)},
          {"end_s", has_steps ? Json(training.end_s) : Json(nullptr)},
          {"mean_s", value_or_null(statistics.mean_s)},
          {"p50_s", value_or_null(statistics.p50_s)},
          {"p99_s", value_or_null(statistics.p99_s)},
          {"throughput", value_or_null(statistics.throughput)},
          {"batch", value_or_null(training.batch)},
          {"dropped", training.dropped},
          {"reason", text_or_null(training.count ? training.times_reason : training.reason)}};
}

Json epochs_json(const Training& training) {
  Json epochs = Json::array();
  for (const Epoch& epoch : training.epochs) {
    epochs.push_back({{"epoch", epoch.epoch}, {"time_s", epoch.time_s}, {"values", epoch.values}});
  }
  return epochs;
}

Json learning_json(const Training& training) {
  Json all = Json::array();
  for (const SetResults& results : training.results) {
    Json milestones = Json::array();
    for (const SetResults::Milestone& m : results.milestones) {
      milestones.push_back(
          {{"accuracy", m.accuracy}, {"time_s", m.time_s}, {"step", value_or_null(m.step)}});
    }
    const bool rated = results.best_accuracy.has_value();
    all.push_back({{"set", results.set},
                   {"loss", value_or_null(results.loss)},
                   {"accuracy", value_or_null(results.accuracy)},
                   {"best_accuracy", value_or_null(results.best_accuracy)},
                   {"best_time_s", rated ? Json(results.best_time_s) : Json(nullptr)},
                   {"milestones", std::move(milestones)}});
  }
  return all;
}

Json pause_json(const Pause& pause) {
  return {{"kind", pause.kind},
          {"from_s", pause.from_s},
          {"to_s", pause.to_s},
          {"lost_s", pause.lost_s},
          {"step", pause.step}};
}

// A breakdown under the key of its analysis; pauses and findings of all analyses together.
Status add_analyses(const RunView& run, Json& document) {
  TS_TRY(const auto completed, run_analyses(run));
  document["pauses"] = Json::array();
  document["findings"] = Json::array();
  for (const auto& [analysis, result] : completed) {
    for (const Pause& pause : result.pauses) document["pauses"].push_back(pause_json(pause));
    for (const Finding& finding : result.findings) {
      document["findings"].push_back(finding_json(finding));
    }
    const std::string key(analysis->json_key);
    if (key.empty()) continue;
    document[key] = breakdown_json(result.breakdown);
    document[key + "_unknown"] = text_or_null(result.unknown);
  }
  return {};
}

}  // namespace

Json breakdown_json(const std::vector<BreakdownPart>& parts) {
  Json breakdown = Json::array();
  for (const BreakdownPart& part : parts) {
    breakdown.push_back({{"part", part.part}, {"share", part.share}, {"time_s", part.time_s}});
  }
  return breakdown;
}

Json finding_json(const Finding& finding) {
  return {{"id", finding.id},
          {"severity", finding.severity},
          {"summary", finding.summary},
          {"evidence", finding.evidence},
          {"from_s", value_or_null(finding.from_s)},
          {"to_s", value_or_null(finding.to_s)},
          {"time_lost_s", value_or_null(finding.time_lost_s)},
          {"max_speedup", value_or_null(finding.max_speedup)},
          {"confidence", value_or_null(finding.confidence)},
          {"advice", text_or_null(finding.advice)},
          {"advice_speedup", value_or_null(finding.advice_speedup)}};
}

Json files_json(const RunView& run) {
  const StoredFiles stored = stored_files(run.path(), run.manifest().zero_realtime_ns);
  Json list = Json::array();
  for (size_t i = 0; i < stored.files.size(); ++i) {
    const StoredFile& file = stored.files[i];
    list.push_back({{"index", i},
                    {"path", file.path},
                    {"bytes", file.bytes},
                    {"time_s", file.time_s},
                    {"type", file.type}});
  }
  return list;
}

Result<Json> info_json(const RunView& run, bool has_events) {
  std::vector<size_t> present;
  for (size_t i = 0; i < run.series().size(); ++i) {
    if (run.series()[i].status != SeriesStatus::absent) present.push_back(i);
  }
  TS_TRY(const std::vector<Summary> summaries, run.summaries_of(present));
  std::vector<Summary> all(run.series().size());
  for (size_t k = 0; k < present.size(); ++k) all[present[k]] = summaries[k];
  Json metrics = Json::array();
  for (size_t i = 0; i < all.size(); ++i) {
    metrics.push_back(metric_json(run.series()[i], all[i]));
  }
  Json document = {{"schema", "trainscope.info/1"},
                   {"run", run_json(run)},
                   {"job", job_json(run)},
                   {"host", host_json(run)},
                   {"settings", settings_json(run.manifest())},
                   {"sampling", sampling_json(run.sampling())},
                   {"overhead", overhead_json(run.overhead())},
                   {"metrics", std::move(metrics)},
                   {"steps", steps_json(run.training())},
                   {"epochs", epochs_json(run.training())},
                   {"learning", learning_json(run.training())},
                   {"phases", phases_json(run)},
                   {"group", group_json(run.manifest())},
                   {"repeat", repeat_json(run.manifest())},
                   {"files", files_json(run)},
                   {"events", has_events ? events_json(run) : Json(nullptr)}};
  TS_CHECK_OK(add_analyses(run, document));
  return document;
}

}  // namespace trainscope
