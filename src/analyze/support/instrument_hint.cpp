// Which command shows what the steps of a Python job consist of.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyze/analyze.h"
#include "base/text.h"
#include "model/switch_setting.h"
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

// A script or a tool such as uv that starts Python: the recorder has seen its framework.
bool has_loaded_framework(const std::vector<Event>& events) {
  return std::any_of(events.begin(), events.end(),
                     [](const Event& event) { return event.kind == "framework"; });
}

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

// As bash and zsh read it back: a script after -c has several lines, which are written as \n.
std::string pasted_word(const std::string& word) {
  if (std::none_of(word.begin(), word.end(), is_control)) return printable(command_text({word}));
  std::string text = "$'";
  for (const char c : word) {
    if (c == '\n') {
      text += "\\n";
    } else if (is_control(static_cast<unsigned char>(c))) {
      text += fmt::format("\\x{:02x}", c);
    } else {
      if (c == '\\' || c == '\'') text += '\\';
      text += c;
    }
  }
  return printable(text + "'");
}

}  // namespace

std::string instrument_command(const RunView& run) {
  const Manifest& manifest = run.manifest();
  const bool was_run = manifest.imported_format.empty() && !manifest.attached;
  if (!was_run || is_on(manifest, "instrument")) return "";
  if (!is_python(manifest.command) && !has_loaded_framework(run.events())) return "";
  const Training& training = run.training();
  if (training.has_input_phases || training.has_compute_phases) return "";
  if (training.observed == 0 && run.duration_s() < kLeastTrainingS) return "";
  std::string text = "trainscope run --instrument --";
  for (const std::string& word : manifest.command) text += " " + pasted_word(word);
  return text;
}

}  // namespace trainscope
