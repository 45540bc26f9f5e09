#include "cli/run_in_use.h"

#include <fmt/format.h>

#include "format/format.h"
#include "store/store.h"

namespace trainscope {

std::string reason_in_use(const std::string& path, bool force) {
  const auto manifest = read_manifest(path);
  const std::string id = manifest ? manifest->id : path;
  const std::string host = manifest ? manifest->host_name : "another host";
  switch (manifest ? liveness(path, *manifest) : liveness_without_manifest(path)) {
    case Liveness::ended:
      return "";
    case Liveness::here:
      return fmt::format("{}: it is being recorded", id);
    case Liveness::elsewhere:
      return force ? ""
                   : fmt::format("{}: it is being recorded on {}; use --force if it is not", id,
                                 host);
    case Liveness::silent_elsewhere:
      break;
  }
  return force ? ""
               : fmt::format(
                     "{}: it was started on {} and may still be running there; use --force if it "
                     "is not",
                     id, host);
}

}  // namespace trainscope
