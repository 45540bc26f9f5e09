// Importers: one .cpp in this folder that defines one constant `<stem>_importer`, a function from a
// recording that others made to a run that the store can keep. The build lists the folder and
// generates importers(); `import --help` and the reference pages read that table.
//
// Guarantees: nothing is written; an Error names the file and the line that is wrong; what the
// recording does not tell is absent, and what a reader should know of it is in the run's notes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/whole_run.h"

namespace trainscope {

struct ImportOptions {
  std::string path;
  std::optional<int64_t> every_ns;  // between two rows, where the recording does not say it
};

struct Importer {
  std::string_view name;     // --from NAME
  std::string_view summary;  // one line for help
  std::string_view input;    // what PATH is: "a folder with …"
  // Looks at the beginning only; for when no format was named.
  bool (*recognises)(const std::string& path) = nullptr;
  Result<WholeRun> (*read)(const ImportOptions& options) = nullptr;
};

// All importers, sorted by name. Generated from the folder.
std::span<const Importer* const> importers();

}  // namespace trainscope
