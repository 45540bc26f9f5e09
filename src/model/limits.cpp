#include "model/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr const char* kSchema = "trainscope.limits/1";
constexpr size_t kMostEntries = 256, kMostMountPoints = 16;
constexpr size_t kDateLength = 10;  // 2026-11-16

// "disk" of "disk.open"
std::string_view kind_of(std::string_view name) { return name.substr(0, name.find('.')); }

Result<Limit> read_limit(const Json& json) {
  Limit limit;
  limit.name = text_field(json, "name");
  limit.unit = text_field(json, "unit");
  limit.how = text_field(json, "how");
  limit.measured = text_field(json, "measured");
  limit.mount_point = text_field(json, "mount_point");
  limit.device = text_field(json, "device");
  if (limit.name.empty() || limit.unit.empty()) return Error("a limit has no name or no unit");
  const auto value = number_field(json, "value");
  if (!value || !std::isfinite(*value) || !(*value > 0)) {
    return Error(fmt::format("the value of {} is not a number above 0", limit.name));
  }
  limit.value = *value;
  return limit;
}

Status check_header(const Json& json) {
  if (!json.is_object()) return Error("it is not a JSON object");
  const std::string schema = text_field(json, "schema");
  if (schema != kSchema) return Error(fmt::format("its schema is '{}', not {}", schema, kSchema));
  if (text_field(json, "host").empty()) return Error("it has no host");
  if (!field(json, "limits").is_array()) return Error("it has no list of limits");
  if (field(json, "limits").size() > kMostEntries) return Error("its list of limits is too long");
  return {};
}

}  // namespace

std::string machine_kind(std::string_view cpu_model, int64_t cpus) {
  return cpu_model.empty() || cpus <= 0 ? "" : fmt::format("{}, {} CPUs", cpu_model, cpus);
}

bool may_apply_to(const MachineLimits& limits, std::string_view machine) {
  return limits.machine.empty() || machine.empty() || limits.machine == machine;
}

void merge_limits(MachineLimits& stored, const MachineLimits& fresh) {
  if (!may_apply_to(stored, fresh.machine)) stored = {};
  stored.host = fresh.host;
  stored.machine = fresh.machine;
  std::set<std::string_view> kinds, mount_points = {""};
  for (const Limit& limit : fresh.limits) {
    kinds.insert(kind_of(limit.name));
    mount_points.insert(limit.mount_point);
  }
  for (const MissingLimit& missing : fresh.missing) {
    kinds.insert(kind_of(missing.name));
    mount_points.insert(missing.mount_point);
  }
  std::erase_if(stored.limits, [&](const Limit& old) {
    return kinds.contains(kind_of(old.name)) && mount_points.contains(old.mount_point);
  });
  std::erase_if(stored.missing, [&](const auto& old) { return kinds.contains(kind_of(old.name)); });
  stored.limits.insert(stored.limits.begin(), fresh.limits.begin(), fresh.limits.end());
  stored.missing.insert(stored.missing.end(), fresh.missing.begin(), fresh.missing.end());
  // Clusters mount a new folder for each job.
  std::set<std::string> kept = {""};
  std::erase_if(stored.limits, [&](const Limit& limit) {
    if (kept.size() <= kMostMountPoints) kept.insert(limit.mount_point);
    return !kept.contains(limit.mount_point);
  });
}

Json limit_list_json(const std::vector<Limit>& limits) {
  Json list = Json::array();
  for (const Limit& limit : limits) {
    list.push_back({{"name", limit.name},
                    {"value", limit.value},
                    {"unit", limit.unit},
                    {"how", limit.how},
                    {"measured", limit.measured},
                    {"mount_point", text_or_null(limit.mount_point)},
                    {"device", text_or_null(limit.device)}});
  }
  return list;
}

Json missing_limits_json(const std::vector<MissingLimit>& missing) {
  Json list = Json::array();
  for (const MissingLimit& one : missing) {
    list.push_back({{"name", one.name},
                    {"reason", text_or_null(one.reason)},
                    {"remedy", text_or_null(one.remedy)},
                    {"mount_point", text_or_null(one.mount_point)}});
  }
  return list;
}

Json limits_to_json(const MachineLimits& limits) {
  return {{"schema", kSchema},
          {"host", limits.host},
          {"machine", text_or_null(limits.machine)},
          {"limits", limit_list_json(limits.limits)},
          {"missing", missing_limits_json(limits.missing)}};
}

Result<MachineLimits> limits_from_json(const Json& json) {
  TS_CHECK_OK(check_header(json));
  MachineLimits limits;
  limits.host = text_field(json, "host");
  limits.machine = text_field(json, "machine");
  for (const Json& entry : field(json, "limits")) {
    TS_TRY(Limit limit, read_limit(entry));
    limits.limits.push_back(std::move(limit));
  }
  if (const Json& missing = field(json, "missing");
      missing.is_array() && missing.size() <= kMostEntries) {
    for (const Json& entry : missing) {
      limits.missing.push_back({text_field(entry, "name"), text_field(entry, "reason"),
                                text_field(entry, "remedy"), text_field(entry, "mount_point")});
    }
  }
  return limits;
}

std::string limit_text(double value, std::string_view unit) {
  if (unit == "By/s") return bytes_text(value) + "/s";
  if (unit == "s") return duration_text(value);
  if (unit == "{flop}/s") return number_text(value / 1e9) + " GFLOP/s";
  if (unit == "{operation}/s") return count_text(value) + " reads/s";
  if (unit == "{file}/s") return count_text(value) + " files/s";
  return fmt::format("{} {}", number_text(value), unit);
}

std::string measured_date(const std::string& measured) { return measured.substr(0, kDateLength); }

}  // namespace trainscope
