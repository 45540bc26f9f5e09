// The common part of commands that read runs: the home, the RUN argument, and printing.
#pragma once

#include <memory>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cli/options.h"
#include "cli/settings.h"
#include "model/model.h"

namespace trainscope {

struct ReadingFlags {
  std::string home;
  std::string run = "latest";  // the RUN argument
  bool json = false;
};

inline constexpr const char* kJsonHelp = "print one JSON document";
inline constexpr const char* kRunHelp =
    "folder, id, name, prefix of an id, latest, latest~2, NAME~1 or 'NAME*' (default: latest)";

// For commands that read several runs together.
inline constexpr const char* kRunOrGroupHelp =
    "folder, id, name, prefix of an id, latest, latest~2, NAME~1, 'NAME*' or a group (default: "
    "latest)";

// Adds --home and, for documents, --json.
std::shared_ptr<ReadingFlags> add_reading_flags(Options& options, const Settings& settings,
                                                bool json);
// Adds the RUN argument, which may be left out.
void add_run_argument(Options& options, const std::shared_ptr<ReadingFlags>& flags,
                      const char* help = kRunHelp);

// The folder of the run that the flags name, as an absolute path.
Result<std::string> find_named_run(const ReadingFlags& flags);
// The run that the flags name, opened. A damaged one is an Error with file and offset.
Result<std::unique_ptr<RunView>> open_named_run(const ReadingFlags& flags);

void print_json(const Json& document);
// The same on one line.
void print_json_line(const Json& document);

}  // namespace trainscope
