#include "store/read/event_list.h"

#include <algorithm>
#include <tuple>

#include "base/json.h"

namespace trainscope {

namespace {

auto key(const Event& event) { return std::tie(event.time_s, event.kind, event.text); }
auto key(const GapNote& note) { return std::tie(note.time_s, *note.reason); }

// In order of time; what was sealed while we read is in `tail` and in a segment.
template <typename Item>
void tidy(std::vector<Item>& all) {
  std::sort(all.begin(), all.end(), [](const Item& a, const Item& b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const Item& a, const Item& b) { return key(a) == key(b); }),
            all.end());
}

}  // namespace

Status EventList::add(std::string_view payload) {
  const Json json = parse_json(payload);
  const auto time_ns = integer_field(json, "time_ns");
  if (!time_ns) return Error("malformed event");
  const double time_s = static_cast<double>(*time_ns) / 1e9;
  std::string kind = text_field(json, "kind"), text = text_field(json, "text");
  if (kind == kGapEvent) {
    events_.gap_notes.push_back({time_s, &*events_.reasons.insert(std::move(text)).first});
  } else {
    events_.listed.push_back({time_s, std::move(kind), std::move(text)});
  }
  return {};
}

RunEvents EventList::finish() {
  tidy(events_.gap_notes);
  const size_t count = std::min(events_.gap_notes.size(), most_gaps_);
  for (size_t i = 0; i < count; ++i) {
    const GapNote& note = events_.gap_notes[i];
    events_.listed.push_back({note.time_s, std::string(kGapEvent), *note.reason});
  }
  events_.left_out = static_cast<int64_t>(events_.gap_notes.size() - count);
  tidy(events_.listed);
  return std::move(events_);
}

}  // namespace trainscope
