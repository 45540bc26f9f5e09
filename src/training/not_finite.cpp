#include "training/not_finite.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "training/training_series.h"

namespace trainscope {

void NotFiniteNumbers::add(const TrainingNumber& number) {
  if (metric_of_number(number.name)) {
    add_to(main_, kMaxMain, number);
  } else {
    add_to(others_, kMaxOthers, number);
  }
}

void NotFiniteNumbers::add_to(ByName& known, size_t limit, const TrainingNumber& number) {
  const std::pair key(number.name, number.set);
  auto found = known.find(key);
  if (found == known.end()) {
    if (known.size() == limit) {
      has_more_ = true;
      return;
    }
    found = known.emplace(key, Occurrences{number.time_s, 0}).first;
  }
  ++found->second.count;
}

void NotFiniteNumbers::append_notes(std::vector<std::string>& notes) const {
  std::vector<std::pair<double, std::string>> all;  // by their first time
  for (const ByName* const known : {&main_, &others_}) {
    for (const auto& [key, occurrences] : *known) {
      const auto& [name, set] = key;
      const std::string shown = printable(set == "train" ? name : name + " (" + set + ")");
      const auto [first_s, count] = occurrences;
      all.emplace_back(first_s, count == 1
                                    ? fmt::format("{} was not finite at {:.1f} s", shown, first_s)
                                    : fmt::format("{} was not finite {} times, first at {:.1f} s",
                                                  shown, count, first_s));
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [first_s, text] : all) notes.push_back(std::move(text));
  if (has_more_) notes.emplace_back("other numbers were not finite either");
}

}  // namespace trainscope
