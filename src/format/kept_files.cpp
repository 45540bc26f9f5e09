#include "format/kept_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace trainscope {

namespace {

constexpr const char* kKeptSchema = "trainscope.kept/1";

}  // namespace

std::string kept_file_name(size_t index) { return fmt::format("{:04}", index + 1); }

std::string kept_files_to_json(const KeptFiles& kept) {
  Json files = Json::array(), left_out = Json::array();
  for (const KeptFile& file : kept.files) {
    files.push_back(
        {{"path", file.path}, {"bytes", file.bytes}, {"modified_ns", file.modified_ns}});
  }
  for (const LeftOutFile& file : kept.left_out) {
    left_out.push_back({{"path", file.path}, {"reason", file.reason}});
  }
  const Json json = {{"schema", kKeptSchema},
                     {"files", std::move(files)},
                     {"left_out", std::move(left_out)},
                     {"left_out_count", kept.left_out_count}};
  return dump_json(json, 1) + "\n";
}

Result<KeptFiles> kept_files_from_json(std::string_view text) {
  const Json json = parse_json(text);
  if (text_field(json, "schema") != kKeptSchema) {
    return Error(
        fmt::format("its schema is '{}', not {}", text_field(json, "schema"), kKeptSchema));
  }
  KeptFiles kept;
  for (const Json& file : field(json, "files")) {
    if (kept.files.size() == kMaxKeptFiles) break;
    kept.files.push_back({text_field(file, "path"),
                          std::max<int64_t>(0, integer_field(file, "bytes").value_or(0)),
                          integer_field(file, "modified_ns").value_or(0)});
  }
  for (const Json& file : field(json, "left_out")) {
    if (kept.left_out.size() == kMaxKeptFiles) break;
    kept.left_out.push_back({text_field(file, "path"), text_field(file, "reason")});
  }
  kept.left_out_count = std::max(static_cast<int64_t>(kept.left_out.size()),
                                 integer_field(json, "left_out_count").value_or(0));
  return kept;
}

}  // namespace trainscope
