// The epochs that each source reports, kept in memory.
//
// Limits: kMaxEpochs with kMaxValues values, of all sources together; a note states it if there are
// more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/training.h"
#include "training/training.h"

namespace trainscope {

class EpochList {
 public:
  static constexpr size_t kMaxEpochs = 100'000, kMaxValues = 200'000;

  void add(const StoredReport& stored);
  // The epochs of this source or, if it reports none, of the first one that does. Returns how many
  // it reported, and appends what was left out to `notes`.
  int64_t finish(std::string_view source, std::vector<Epoch>& epochs,
                 std::vector<std::string>& notes);

 private:
  struct OfSource {
    std::vector<Epoch> listed;  // the first ones
    int64_t count = 0, last = 0;
    bool lacks_values = false;
  };
  void take_values(const Report& report, OfSource& of_source);

  std::map<std::string, OfSource, std::less<>> sources_;
  size_t listed_ = 0, values_ = 0;
};

}  // namespace trainscope
