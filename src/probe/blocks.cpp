#include "probe/blocks.h"

#include <map>

#include "base/text.h"
#include "model/training.h"

namespace trainscope {

namespace {

// Steps and blocks end at the same calls; their clocks are read one after the other.
constexpr double kSameInstantS = 1e-6;
// Any program may write a mark: no block has so many steps, lasts for so many seconds, or has such
// a number.
constexpr double kMostStated = 1e9;

}  // namespace

std::optional<ProbeBlock> parse_block(std::string_view text, double time_s) {
  std::map<std::string_view, std::string_view> fields;
  for (const std::string_view word : split(text, ' ')) {
    const size_t equals = word.find('=');
    if (equals != std::string_view::npos) fields[word.substr(0, equals)] = word.substr(equals + 1);
  }
  const auto number = [&](std::string_view name) -> std::optional<double> {
    const auto found = fields.find(name);
    const auto value = found == fields.end() ? std::nullopt : parse_number(found->second);
    return value && *value >= 0 && *value <= kMostStated ? value : std::nullopt;
  };
  const auto pair = number("pair"), duration = number("duration"), changed = number("changed");
  const auto discarded = number("discarded");
  if (!fields.contains("what") || !pair || !duration || !changed || !discarded) return std::nullopt;
  ProbeBlock block;
  block.what = fields["what"];
  block.is_changed = *changed != 0;
  block.pair = static_cast<int64_t>(*pair);
  block.from_s = time_s - *duration;
  block.to_s = time_s;
  block.discarded = static_cast<int64_t>(*discarded);
  block.slept_s = number("slept").value_or(0);
  block.sleep_share = number("sleep").value_or(0);
  block.given_s = number("given").value_or(0);
  block.cpu_s = number("cpu");
  block.queued_s = number("queued").value_or(0);
  block.has_device = number("device").value_or(0) != 0;
  block.has_own_threads = number("threads").value_or(1) == 0;
  return block;
}

Status add_steps(const RunView& run, std::vector<ProbeBlock>& blocks) {
  const Training& training = run.training();
  if (training.details == nullptr) return {};
  const auto steps = training.details->steps();
  size_t at = 0;
  for (Step step; at < blocks.size();) {
    TS_TRY(const bool has_more, steps->next(step));
    if (!has_more) break;
    while (at < blocks.size() && step.time_s > blocks[at].to_s + kSameInstantS) ++at;
    if (at == blocks.size() || step.time_s <= blocks[at].from_s + kSameInstantS) continue;
    const auto mean_s = step.mean_s();
    if (!mean_s) continue;
    const auto covered = static_cast<double>(step.covers);
    // Reports in between were lost, and some of these steps are not of this block.
    const double begin_s = step.time_s - *mean_s * covered;
    if (step.covers > 1 && begin_s < blocks[at].from_s - *mean_s / 2) continue;
    blocks[at].steps += covered;
    blocks[at].time_s += *mean_s * covered;
  }
  return {};
}

}  // namespace trainscope
