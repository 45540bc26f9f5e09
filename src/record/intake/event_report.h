// A number of a TensorBoard event file as a line of progress.
//
// Knows the names that Keras, Estimators, retrain.py, PyTorch, Lightning and Hugging Face give.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parse/progress.h"

namespace trainscope {

// `folder` is the name of the folder that the event file is in: Keras has train and validation.
// A tag that counts steps gives a step, "epoch_…" an epoch, what is of another set than the
// training set a scalar. Nothing for tags that tell nothing of the training ("epoch" itself).
std::optional<Report> report_of_event(std::string_view folder, std::string_view tag, int64_t step,
                                      double value);

}  // namespace trainscope
