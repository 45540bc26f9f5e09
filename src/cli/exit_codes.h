// Meanings of the program's exit codes: used by the commands, printed in the reference.
#pragma once

#include <array>
#include <string_view>

namespace trainscope {

inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimeLimit = 124;
inline constexpr int kExitFailedBeforeJob = 125;

struct ExitCode {
  std::string_view command, code, meaning;
};

inline constexpr std::array<ExitCode, 10> kExitCodes = {{
    {"every command", "0", "done"},
    {"every command", "1",
     "the answer is \"no\": `rm` was not confirmed, `compare --fail-if` fired, `diagnose` could "
     "not read "
     "one of several runs"},
    {"every command", "2", "usage error or bad input; nothing was changed"},
    {"`run`", "the job's own", "the job ended by itself"},
    {"`run`", "124", "ended by `--for`"},
    {"`run`", "125", "Trainscope failed before the job started"},
    {"`run`", "126, 127", "the job's program cannot be executed, or is not found"},
    {"`run`", "by signal",
     "the job was killed by a signal: `run` ends by the same one (a shell shows 128 + its number), "
     "without its own core dump"},
    {"`probe`", "1", "nothing could be measured, with the reason; 125 to 127 as of `run`"},
    {"`attach`", "0", "the job or `--for` is over; the job is left alone"},
}};

}  // namespace trainscope
