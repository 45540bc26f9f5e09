// manifest.json of a run folder, which the segments have a copy of.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "model/manifest.h"

namespace trainscope {

inline constexpr size_t kMaxManifestBytes = size_t{16} << 20;

Json verdict_to_json(const StoredVerdict& verdict);
std::string manifest_to_json(const Manifest& manifest);
// EBADMSG in the Error when the text is damaged; not when it is of a newer format.
Result<Manifest> manifest_from_json(std::string_view text);
Status write_manifest(const std::string& run_path, const Manifest& manifest);
Result<Manifest> read_manifest(const std::string& run_path);

}  // namespace trainscope
