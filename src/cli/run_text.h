// Sentences about a run; the summary and `info` print the same ones.
#pragma once

#include <string>

#include "model/model.h"

namespace trainscope {

enum class Detail { summary, info };  // `info` has room for more numbers

// "exit code 0", "killed by signal 9 (SIGKILL)", "stopped by --for", "still running".
std::string full_outcome_text(const Manifest& manifest, RunStatus status);

// "900 every 100 ms, 1 missed, jitter p99 200 µs"
std::string sampling_text(const Sampling& sampling, Detail detail);

// "0.4% of one CPU, 11.9 MiB memory, 380 KiB written"; what was not measured is omitted.
std::string overhead_text(const Overhead& overhead, double duration_s, Detail detail);

}  // namespace trainscope
