// manifest.json: the fields of Manifest by their names, plus `schema`.
#include "format/manifest.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/fd.h"
#include "base/json.h"
#include "format/codec.h"

namespace trainscope {

namespace {

constexpr const char* kSchema = "trainscope.manifest/1";
constexpr std::string_view kFamily = "trainscope.manifest/";

Json settings_json(const std::vector<Setting>& settings) {
  Json list = Json::array();
  for (const Setting& s : settings) {
    list.push_back({{"name", s.name}, {"value", s.value}, {"from", s.from}});
  }
  return list;
}

Json phases_json(const std::vector<Phase>& phases) {
  Json list = Json::array();
  for (const Phase& p : phases) {
    list.push_back({{"name", p.name}, {"from_s", p.from_s}, {"to_s", value_or_null(p.to_s)}});
  }
  return list;
}

Json repeat_json(const Repeat& repeat) {
  if (repeat.group.empty()) return nullptr;
  return {{"group", repeat.group}, {"index", repeat.index}, {"count", repeat.count}};
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Json& item : list) {
    if (item.is_string()) out.push_back(item.get<std::string>());
  }
  return out;
}

std::optional<int> small_integer(const Json& object, const char* key) {
  const auto value = integer_field(object, key);
  if (!value || *value < INT32_MIN || *value > INT32_MAX) return std::nullopt;
  return static_cast<int>(*value);
}

void read_lists(const Json& json, Manifest& m) {
  if (const Json& tags = field(json, "tags"); tags.is_object()) {
    for (const auto& [key, value] : tags.items()) {
      if (value.is_string()) m.tags[key] = value.get<std::string>();
    }
  }
  m.command = texts(field(json, "command"));
  m.notes = texts(field(json, "notes"));
  if (const Json& settings = field(json, "settings"); settings.is_array()) {
    for (const Json& s : settings) {
      m.settings.push_back({text_field(s, "name"), text_field(s, "value"), text_field(s, "from")});
    }
  }
  if (const Json& phases = field(json, "phases"); phases.is_array()) {
    for (const Json& p : phases) {
      m.phases.push_back(
          {text_field(p, "name"), number_field(p, "from_s").value_or(0), number_field(p, "to_s")});
    }
  }
}

void read_numbers(const Json& json, Manifest& m) {
  const auto number = [&](const char* key, int64_t fallback) {
    return integer_field(json, key).value_or(fallback);
  };
  m.rank = number("rank", 0);
  m.world_size = number("world_size", 1);
  m.local_rank = number("local_rank", 0);
  m.restart = number("restart", 0);
  m.period_ns = number("period_ns", 0);
  m.zero_monotonic_ns = number("zero_monotonic_ns", 0);
  m.zero_boottime_ns = number("zero_boottime_ns", 0);
  m.zero_realtime_ns = number("zero_realtime_ns", 0);
  m.supervisor_pid = number("supervisor_pid", 0);
  m.supervisor_start_ticks = number("supervisor_start_ticks", 0);
  m.steps = integer_field(json, "steps");
  m.steps_per_s = number_field(json, "steps_per_s");
  m.bytes_written = integer_field(json, "bytes_written");
  m.unwritten_reason = text_field(json, "unwritten_reason");
  if (const Json& verdict = field(json, "verdict"); verdict.is_object()) {
    m.verdict = {text_field(verdict, "verdict"), text_field(verdict, "cause"),
                 number_field(verdict, "confidence").value_or(0),
                 integer_field(verdict, "rules").value_or(0)};
  }
}

// Damaged limits are unknown limits: the run does not depend on them.
void read_limits(const Json& json, Manifest& m) {
  if (!field(json, "limits").is_object()) return;
  if (auto limits = limits_from_json(field(json, "limits"))) m.limits = std::move(*limits);
}

void read_groups(const Json& json, Manifest& m) {
  m.job = text_field(json, "job");
  const Json& records = field(json, "records_machine");
  // Earlier versions did not write it.
  m.records_machine = records.is_boolean() ? records.get<bool>() : m.local_rank == 0;
  const Json& repeat = field(json, "repeat");
  m.repeat = {text_field(repeat, "group"), integer_field(repeat, "index").value_or(0),
              integer_field(repeat, "count").value_or(0)};
}

}  // namespace

Json verdict_to_json(const StoredVerdict& verdict) {
  return {{"verdict", verdict.verdict},
          {"cause", text_or_null(verdict.cause)},
          {"confidence", verdict.confidence},
          {"rules", verdict.rules}};
}

std::string manifest_to_json(const Manifest& m) {
  Json json = {
      {"schema", kSchema},
      {"id", m.id},
      {"name", m.name},
      {"note", m.note},
      {"tags", Json::object()},
      {"started", m.started},
      {"ended", text_or_null(m.ended)},
      {"duration_s", value_or_null(m.duration_s)},
      {"command", m.command},
      {"after_command", text_or_null(m.after_command)},
      {"working_directory", m.working_directory},
      {"attached", m.attached},
      {"imported_format", text_or_null(m.imported_format)},
      {"imported_path", text_or_null(m.imported_path)},
      {"exit_code", value_or_null(m.exit_code)},
      {"signal", value_or_null(m.signal)},
      {"after_exit_code", value_or_null(m.after_exit_code)},
      {"ended_by", text_or_null(ended_by_name(m.ended_by))},
      {"host_name", m.host_name},
      {"boot_id", m.boot_id},
      {"trainscope_version", m.trainscope_version},
      {"rank", m.rank},
      {"world_size", m.world_size},
      {"local_rank", m.local_rank},
      {"job", text_or_null(m.job)},
      {"restart", m.restart},
      {"records_machine", m.records_machine},
      {"repeat", repeat_json(m.repeat)},
      {"period_ns", m.period_ns},
      {"zero_monotonic_ns", m.zero_monotonic_ns},
      {"zero_boottime_ns", m.zero_boottime_ns},
      {"zero_realtime_ns", m.zero_realtime_ns},
      {"supervisor_pid", m.supervisor_pid},
      {"supervisor_start_ticks", m.supervisor_start_ticks},
      {"steps", value_or_null(m.steps)},
      {"steps_per_s", value_or_null(m.steps_per_s)},
      {"bytes_written", value_or_null(m.bytes_written)},
      {"unwritten_reason", text_or_null(m.unwritten_reason)},
      {"verdict", m.verdict ? verdict_to_json(*m.verdict) : Json(nullptr)},
      {"limits", m.limits ? limits_to_json(*m.limits) : Json(nullptr)},
      {"settings", settings_json(m.settings)},
      {"phases", phases_json(m.phases)},
      {"notes", m.notes},
  };
  for (const auto& [key, value] : m.tags) json["tags"][key] = value;
  return dump_json(json, 1) + "\n";
}

Result<Manifest> manifest_from_json(std::string_view text) {
  const Json json = parse_json(text);
  if (text.empty()) return Error("it is empty", EBADMSG);
  if (!json.is_object()) return Error("it is not a JSON object", EBADMSG);
  const std::string schema = text_field(json, "schema");
  if (schema.starts_with(kFamily) && schema != kSchema) {
    return Error(fmt::format("its schema is '{}'; this program reads {}: use a newer trainscope",
                             schema, kSchema));
  }
  if (schema != kSchema) {
    return Error(fmt::format("its schema is '{}', not {}", schema, kSchema), EBADMSG);
  }
  Manifest m;
  m.id = text_field(json, "id");
  if (m.id.empty()) return Error("it has no id", EBADMSG);
  m.name = text_field(json, "name");
  m.note = text_field(json, "note");
  m.started = text_field(json, "started");
  m.ended = text_field(json, "ended");
  m.duration_s = number_field(json, "duration_s");
  // Ten thousand years: beyond it, times in nanoseconds would not fit and the number is no time.
  if (m.duration_s && !(*m.duration_s >= 0 && *m.duration_s < 9e9)) m.duration_s.reset();
  m.after_command = text_field(json, "after_command");
  m.working_directory = text_field(json, "working_directory");
  m.attached = field(json, "attached").is_boolean() && field(json, "attached").get<bool>();
  m.imported_format = text_field(json, "imported_format");
  m.imported_path = text_field(json, "imported_path");
  m.exit_code = small_integer(json, "exit_code");
  m.signal = small_integer(json, "signal");
  m.after_exit_code = small_integer(json, "after_exit_code");
  m.ended_by = ended_by_from_name(text_field(json, "ended_by"));
  m.host_name = text_field(json, "host_name");
  m.boot_id = text_field(json, "boot_id");
  m.trainscope_version = text_field(json, "trainscope_version");
  read_numbers(json, m);
  read_groups(json, m);
  read_lists(json, m);
  read_limits(json, m);
  if (m.period_ns < 0 || m.period_ns > kMaxPeriodNs)
    return Error(fmt::format("its period_ns is {}", m.period_ns), EBADMSG);
  return m;
}

Status write_manifest(const std::string& run_path, const Manifest& manifest) {
  return replace_file(run_path + "/manifest.json", manifest_to_json(manifest));
}

Result<Manifest> read_manifest(const std::string& run_path) {
  const std::string path = run_path + "/manifest.json";
  TS_TRY(const std::string text, read_regular_file(path, kMaxManifestBytes));
  return manifest_from_json(text).with_context(path);
}

}  // namespace trainscope
