// Reported numbers that were nan or inf: they are absent everywhere, so that a note states each.
//
// Guarantees: losses and accuracies are noted whatever other numbers there are. Limits: kMaxOthers
// other names, and kMaxMain names of losses and accuracies; a note states it if there are more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/training.h"

namespace trainscope {

class NotFiniteNumbers {
 public:
  static constexpr size_t kMaxOthers = 5, kMaxMain = 1000;

  void add(const TrainingNumber& number);
  // One note per name and set, in order of time.
  void append_notes(std::vector<std::string>& notes) const;

 private:
  struct Occurrences {
    double first_s = 0;
    int64_t count = 0;
  };
  using ByName = std::map<std::pair<std::string, std::string>, Occurrences>;  // name and set
  void add_to(ByName& known, size_t limit, const TrainingNumber& number);

  ByName main_, others_;
  bool has_more_ = false;
};

}  // namespace trainscope
