// Importers: one .cpp in this folder that defines one constant `<stem>_importer`, a function from a
// recording of another tool to a run that the store can write. The build lists the folder and
// generates importers(); `import --help` and the reference pages read that table.
//
// Guarantees: nothing is written; an Error names the file and the invalid line; data that the
// recording lacks is absent, and caveats are in the run's notes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "format/format.h"

namespace trainscope {

struct ImportOptions {
  std::string path;
  std::optional<int64_t> every_ns;  // sampling period, if the recording does not state one
};

struct Importer {
  std::string_view name;     // --from NAME
  std::string_view summary;  // one line for help
  std::string_view input;    // description of PATH: "a folder with …"
  // Reads the beginning only; used if no format was given.
  bool (*recognises)(const std::string& path) = nullptr;
  Result<RunData> (*read)(const ImportOptions& options) = nullptr;
};

// All importers, sorted by name. Generated from the folder.
std::span<const Importer* const> importers();

}  // namespace trainscope
