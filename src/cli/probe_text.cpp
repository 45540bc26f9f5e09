#include "cli/probe_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace trainscope {

namespace {

std::string probe_row(std::string_view title, std::string_view text) {
  return fmt::format("  {:<11} {}\n", title, printable(text));
}

}  // namespace

std::string probe_text(const ProbeResult& result) {
  std::string out;
  for (const ProbeEffect& effect : result.effects) {
    out += probe_row(effect.what, effect_sentence(effect));
    if (effect.blocks > 0) {
      out += probe_row("", fmt::format("{} blocks, {} steps discarded after changes", effect.blocks,
                                       effect.discarded_steps));
    }
  }
  if (const std::string together = probe_conclusion(result); !together.empty()) {
    out += probe_row("together", together);
  }
  if (!result.problem.empty()) out += probe_row("problem", result.problem);
  if (result.has_replaced_input) {
    out += probe_row("learning", "do not use what this run learnt: its input was replaced");
  }
  return out;
}

std::string proof_text(const ProbeResult& result) {
  std::string out;
  for (const ProbeEffect& effect : result.effects) {
    if (!effect.ratio) continue;
    out += fmt::format("  {:<9} {}\n", out.empty() ? "proof" : "", effect_sentence(effect));
  }
  return out;
}

}  // namespace trainscope
