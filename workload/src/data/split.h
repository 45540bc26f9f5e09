// Which set an image belongs to, decided by its name alone, as TensorFlow's retrain.py decides it.
//
// Guarantees: the same name gives the same set on every machine and in every run, whatever else is
// in the folder; names that differ only after "_nohash_" stay together.
// Limits: unlike retrain.py the name is hashed relative to the image folder, so that moving the
// folder moves no image. The shares hold on average, not exactly.
#pragma once

#include <string_view>

namespace trainscope::workload {

enum class SetKind { kTraining, kValidation, kTest };

struct SplitShares {
  double validation_percent = 10.0;
  double test_percent = 10.0;
};

// `name`: path relative to the image folder, with '/' between its parts.
double split_percent(std::string_view name);
SetKind choose_set(std::string_view name, const SplitShares& shares);

}  // namespace trainscope::workload
