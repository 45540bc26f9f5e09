// A number of a TensorBoard event file as a progress line.
//
// Supports the names that Keras, Estimators, retrain.py, PyTorch, Lightning and Hugging Face use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "training/training.h"

namespace trainscope {

// `folder` is the name of the folder that contains the event file: Keras has train and validation.
// A tag that counts steps gives a step, "epoch_…" an epoch, a value of another set than the
// training set a scalar. Nothing for tags that are not about the training ("epoch" itself).
std::optional<Report> report_of_event(std::string_view folder, std::string_view tag, int64_t step,
                                      double value);

}  // namespace trainscope
