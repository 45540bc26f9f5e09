// The epochs that each source reports, kept in memory.
//
// Several senders (ranks) may write to the pipe: the epochs are those of the one that does the
// steps or, if it reports none, of every sender.
//
// Limits: kMaxEpochs of each source, with kMaxValues values of all together; a note states it if
// there are more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/training.h"
#include "training/training.h"

namespace trainscope {

class EpochList {
 public:
  static constexpr size_t kMaxEpochs = 100'000, kMaxValues = 200'000;
  static constexpr size_t kMaxSources = 10;  // more than exist: a damaged file may name others

  // `sender`: the one that does the steps.
  explicit EpochList(std::string sender) : sender_(std::move(sender)) {}

  void add(const StoredReport& stored);
  // The epochs of this source or, if it reports none, of the first one that does. Returns how many
  // it reported, and appends what was left out to `notes`.
  int64_t finish(std::string_view source, std::vector<Epoch>& epochs,
                 std::vector<std::string>& notes);

 private:
  struct OfSource {
    std::vector<Epoch> listed;  // the first ones
    int64_t count = 0, last = 0;
    bool is_of_sender = false;  // otherwise of everyone
    bool lacks_values = false;
  };
  OfSource* find(const StoredReport& stored);
  void forget(const std::string& source);
  void take_values(const Report& report, OfSource& of_source);

  std::string sender_;
  std::map<std::string, OfSource, std::less<>> sources_;
  size_t values_ = 0;
};

}  // namespace trainscope
