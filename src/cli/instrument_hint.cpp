#include "cli/instrument_hint.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyze/analyze.h"
#include "base/text.h"
#include "cli/table.h"
#include "model/training.h"

namespace trainscope {

namespace {

// python, python3, python3.11, and the launchers of Python jobs.
bool is_python(const std::vector<std::string>& command) {
  if (command.empty()) return false;
  constexpr std::array<std::string_view, 3> kLaunchers = {"torchrun", "accelerate", "deepspeed"};
  const std::string_view path = command.front();
  std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  if (std::find(kLaunchers.begin(), kLaunchers.end(), name) != kLaunchers.end()) return true;
  if (!name.starts_with("python")) return false;
  name.remove_prefix(6);
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_instrumented(const Manifest& manifest) {
  return std::any_of(manifest.settings.begin(), manifest.settings.end(), [](const Setting& one) {
    return one.name == "instrument" && one.value == "true";
  });
}

}  // namespace

std::string instrument_command(const RunView& run) {
  const Manifest& manifest = run.manifest();
  const bool was_run = manifest.imported_format.empty() && !manifest.attached;
  if (!was_run || !is_python(manifest.command) || is_instrumented(manifest)) return "";
  const Training& training = run.training();
  if (training.has_input_phases || training.has_compute_phases) return "";
  if (training.observed == 0 && run.duration_s() < kLeastTrainingS) return "";
  return "trainscope run --instrument -- " + printable(command_text(manifest.command));
}

}  // namespace trainscope
