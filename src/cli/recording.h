// What `run`, `attach` and `demo` share: their options, checked before anything starts.
//
// Guarantees: an Error names what was given, where (flag, environment, file) and what is accepted.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "cli/settings.h"
#include "record/record.h"

namespace trainscope {

struct RecordingFlags {
  explicit RecordingFlags(const Settings& loaded) : settings(loaded) {}
  Settings settings;
  std::vector<std::string> tags;
  std::vector<std::string> counters;
  bool perf = false;
  std::vector<std::string> data, tensorboard;
  std::string steps_from;
  std::string id_file;
};

// Adds one flag for each of these settings, and --tag, --counter, --data, --tensorboard,
// --steps-from and
// --id-file.
void add_recording_flags(Options& options, const std::shared_ptr<RecordingFlags>& flags,
                         std::initializer_list<std::string_view> names);

// The options as the recorder wants them; `command` and `attach_pid` are the caller's to fill.
Result<RecordOptions> recording_options(const RecordingFlags& flags);

// That a time between two samples is one that can be kept; `origin` and `given` say what was asked.
Status check_period(int64_t every_ns, const std::string& origin, const std::string& given);

// Prints the summary of a run on stderr. It is read in a child process with limits on time and
// memory: a run that cannot be read back costs one line, never the exit code.
void print_run_summary(const RecordOutcome& outcome);

}  // namespace trainscope
