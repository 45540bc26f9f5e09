#include "store/home/edit.h"

#include <fmt/format.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "format/format.h"
#include "store/store.h"

namespace trainscope {

Status edit_run(const std::string& run_path, const RunEdit& edit) {
  const std::string path = run_path + "/manifest.json";
  TS_TRY(const std::string text, read_regular_file(path, kMaxManifestBytes));
  TS_CHECK_OK(manifest_from_json(text).with_context(path));
  Json json = parse_json(text);
  if (edit.name) json["name"] = *edit.name;
  if (edit.note) json["note"] = *edit.note;
  Json& tags = json["tags"];
  if (!tags.is_object()) tags = Json::object();
  for (const std::string& key : edit.removed_tags) {
    if (tags.erase(key) == 0) return Error(fmt::format("the run has no tag '{}'", printable(key)));
  }
  for (const auto& [key, value] : edit.tags) tags[key] = value;
  return replace_file(path, dump_json(json, 1) + "\n");
}

}  // namespace trainscope
