#include "store/home/edit.h"

#include <fmt/format.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "format/format.h"
#include "store/store.h"

namespace trainscope {

namespace {

std::string manifest_path(const std::string& run_path) { return run_path + "/manifest.json"; }

// As it is on disk, with what this version does not know.
Result<Json> read_manifest_json(const std::string& run_path) {
  const std::string path = manifest_path(run_path);
  TS_TRY(const std::string text, read_regular_file(path, kMaxManifestBytes));
  TS_CHECK_OK(manifest_from_json(text).with_context(path));
  return parse_json(text);
}

Status write_manifest_json(const std::string& run_path, const Json& json) {
  return replace_file(manifest_path(run_path), dump_json(json, 1) + "\n");
}

}  // namespace

Status edit_run(const std::string& run_path, const RunEdit& edit) {
  TS_TRY(Json json, read_manifest_json(run_path));
  if (edit.name) json["name"] = *edit.name;
  if (edit.note) json["note"] = *edit.note;
  Json& tags = json["tags"];
  if (!tags.is_object()) tags = Json::object();
  for (const std::string& key : edit.removed_tags) {
    if (tags.erase(key) == 0) return Error(fmt::format("the run has no tag '{}'", printable(key)));
  }
  for (const auto& [key, value] : edit.tags) tags[key] = value;
  return write_manifest_json(run_path, json);
}

Status store_verdict(const std::string& run_path, const StoredVerdict& verdict) {
  TS_TRY(Json json, read_manifest_json(run_path));
  json["verdict"] = verdict_to_json(verdict);
  return write_manifest_json(run_path, json);
}

}  // namespace trainscope
