// From the bytes of a batch to what a network takes: floats on the device, normalised, laid out.
#pragma once

#include <torch/types.h>

#include "data/loader.h"
#include "models/model.h"

namespace trainscope::workload {

class ImageTensors {
 public:
  ImageTensors(const ImageShape& shape, const Normalisation& normalisation,
               const torch::Device& device, bool channels_last);

  torch::Tensor images(const Batch& batch) const;  // [batch, channels, rows, columns]
  torch::Tensor labels(const Batch& batch) const;

 private:
  ImageShape shape_;
  torch::Device device_;
  bool channels_last_;
  torch::Tensor mean_;     // [1, channels, 1, 1]
  torch::Tensor inverse_;  // of the deviation
};

}  // namespace trainscope::workload
