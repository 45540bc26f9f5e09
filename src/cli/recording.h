// What `run`, `attach` and `demo` share: their options, checked before anything starts.
//
// Guarantees: an Error names what was given, where (flag, environment, file) and what is accepted.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/options.h"
#include "cli/setting_table.h"
#include "cli/settings.h"
#include "record/record.h"

namespace trainscope {

// An Error if a name, a note or another text that a run stores is too long. `origin` is for the
// message: "--name".
Status check_text(const std::string& origin, std::string_view text);

// Adds the flags of the settings that this command takes; they are set in `settings`.
void add_recording_flags(Options& options, const std::shared_ptr<Settings>& settings,
                         std::string_view command);

// The settings read into the members that they fill; `command` and `attach_pid` are left to the
// caller.
Result<RunOptions> recording_options(Settings settings);

// An Error unless the sampling period is within its limits; `origin` and `given` are for messages.
Status check_period(int64_t every_ns, const std::string& origin, const std::string& given);

// Stores the verdict of a run that has ended and prints its summary on stderr, unless `quiet`. It
// is read in a child process with limits on time and memory: a run that cannot be read back costs
// one line, never the exit code.
void conclude_run(const RecordOutcome& outcome, bool quiet);

}  // namespace trainscope
