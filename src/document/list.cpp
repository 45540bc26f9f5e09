// The runs of a home, and parts of manifests that other documents have as well.
#include "base/clock.h"
#include "base/json.h"
#include "document/document.h"
#include "format/format.h"

namespace trainscope {

std::optional<double> listed_duration_s(const RunListing& run) {
  if (run.manifest.duration_s || run.status == RunStatus::running) return run.manifest.duration_s;
  return last_sample_s(run.path);
}

Json tags_json(const Manifest& manifest) {
  Json tags = Json::object();
  for (const auto& [key, value] : manifest.tags) tags[key] = value;
  return tags;
}

Json group_json(const Manifest& manifest) {
  if (manifest.world_size <= 1) return nullptr;
  return {{"job", text_or_null(manifest.job)},  // earlier versions did not record it
          {"rank", manifest.rank},
          {"world_size", manifest.world_size},
          {"restart", manifest.restart}};
}

Json repeat_json(const Manifest& manifest) {
  const Repeat& repeat = manifest.repeat;
  if (repeat.group.empty()) return nullptr;
  return {{"group", repeat.group}, {"index", repeat.index}, {"count", repeat.count}};
}

Json listing_json(const RunListing& run) {
  const Manifest& m = run.manifest;
  const bool damaged = run.status == RunStatus::damaged;
  return {{"id", m.id},
          {"name", text_or_null(m.name)},
          {"tags", tags_json(m)},
          {"note", text_or_null(m.note)},
          {"rank", m.world_size > 1 ? Json(m.rank) : Json(nullptr)},
          {"group", group_json(m)},
          {"repeat", repeat_json(m)},
          {"host", text_or_null(m.host_name)},
          {"started", text_or_null(m.started)},
          {"duration_s", value_or_null(listed_duration_s(run))},
          {"command", m.command},
          {"exit_code", value_or_null(m.exit_code)},
          {"signal", value_or_null(m.signal)},
          {"ended_by", text_or_null(ended_by_name(m.ended_by))},
          {"verdict", m.verdict ? Json(m.verdict->verdict) : Json(nullptr)},
          {"steps", value_or_null(m.steps)},
          {"status", run_status_name(run.status)},
          {"path", run.path},
          {"problem", damaged ? Json(run.problem) : Json(nullptr)}};
}

Json run_head_json(const RunListing& run) {
  const Manifest& m = run.manifest;
  Json head = listing_json(run);
  head.erase("path");
  head.erase("verdict");
  head["ended"] = text_or_null(m.ended);
  head["steps_per_s"] = value_or_null(m.steps_per_s);
  head["period_s"] = m.period_ns > 0 ? Json(to_seconds(m.period_ns)) : Json(nullptr);
  return {{"run", std::move(head)},
          {"verdict", m.verdict ? verdict_to_json(*m.verdict) : Json(nullptr)}};
}

Json list_document(const std::vector<RunListing>& runs) {
  Json document = {{"schema", "trainscope.list/1"}, {"runs", Json::array()}};
  for (const RunListing& run : runs) document["runs"].push_back(listing_json(run));
  return document;
}

}  // namespace trainscope
