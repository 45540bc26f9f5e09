#include "store/read/rebuild.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/clock.h"
#include "base/json.h"
#include "format/format.h"
#include "store/read/run_id.h"
#include "store/store.h"

namespace trainscope {

namespace {

class ManifestFinder {
 public:
  Status look_at(const RunFiles& files) {
    for (const RunFile& segment : files.segments) {
      if (segment.size() < kFileHeaderBytes) continue;
      const FrameVisitor visitor = {[this](const Frame& frame) -> Status {
                                      look_at(frame);
                                      return {};
                                    },
                                    [](const Damage& /*damage*/) {}};
      const auto scan = visit_frames(segment.frames(), visitor);
      if (!scan) return scan.error().with_context(files.path + "/" + segment.name);
    }
    return {};
  }

  bool has_anything = false;
  std::optional<Manifest> kept;  // the last one
  std::string id, host_name;
  int64_t period_ns = 0;

 private:
  void look_at(const Frame& frame) {
    has_anything = true;
    switch (frame.type) {
      case FrameType::head:
        id = text_field(parse_json(frame.payload), "run");
        return;
      case FrameType::schema:
        return look_at_schema(frame.payload);
      case FrameType::info:
        host_name = text_field(parse_json(frame.payload), "name");
        return;
      case FrameType::manifest:
        return look_at_manifest(frame);
      default:
        return;
    }
  }

  void look_at_schema(std::string_view payload) {
    if (period_ns != 0) return;
    const auto schema = parse_schema(payload);
    if (schema && schema->stream == 0) period_ns = schema->period_ns;
  }

  void look_at_manifest(const Frame& frame) {
    auto text = (frame.flags & kFrameZstd) != 0 ? decompress(frame.payload, kMaxManifestBytes)
                                                : Result(std::string(frame.payload));
    if (!text) return;
    if (auto manifest = manifest_from_json(*text)) kept = std::move(*manifest);
  }
};

// From the id, which contains when the folder was created.
std::string started_by_id(std::string_view id) {
  const auto made_ns = run_id_realtime_ns(id);
  return made_ns ? utc_text(*made_ns) : "";
}

std::string folder_id(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1).substr(0, kRunIdLength);
  return is_run_id(name) ? name : "";
}

}  // namespace

bool can_rebuild(const Error& problem) {
  return problem.error_number() == EBADMSG || problem.error_number() == ENOENT;
}

Result<Manifest> rebuild_manifest(const RunFiles& files, const Error& problem) {
  ManifestFinder found;
  TS_CHECK_OK(found.look_at(files));
  if (!found.has_anything) return problem;
  const std::string what = fmt::format("{}; it was rebuilt from the samples: ", problem.message());
  if (found.kept) {
    Manifest m = std::move(*found.kept);
    if (m.imported_format.empty()) {
      m.notes.push_back(what + "the outcome of the job and later edits are unknown");
    } else {
      m.notes.push_back(what + "later edits are unknown");
    }
    return m;
  }
  Manifest m;
  m.id = found.id.empty() ? folder_id(files.path) : found.id;
  m.period_ns = found.period_ns;
  m.host_name = found.host_name;
  m.started = started_by_id(m.id);
  m.notes.push_back(what +
                    "name, command, settings and outcome are unknown; it started "
                    "shortly after the time shown, which is taken from its id");
  return m;
}

}  // namespace trainscope
