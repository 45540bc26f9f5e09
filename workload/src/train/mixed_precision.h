// 16-bit compute where it is safe: libtorch's autocast, and for fp16 a scale that keeps small
// gradients from vanishing.
//
// Guarantees: nothing waits for the device; weights stay in 32 bits; a step whose gradients
// overflowed changes nothing, and the scale is halved (it doubles again after 2,000 good steps).
#pragma once

#include <torch/types.h>

#include <optional>

#include "options.h"
#include "train/optimizer.h"

namespace trainscope::workload {

// While it lives, operations on that device run in the given precision.
class Autocast {
 public:
  Autocast(const torch::Device& device, Precision precision);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType type_;
  bool active_;
};

class LossScale {
 public:
  LossScale(const torch::Device& device, Precision precision);

  torch::Tensor scaled(const torch::Tensor& loss) const {
    return scale_.defined() ? loss * scale_ : loss;
  }
  // Takes the scale out of the gradients. The answer, on the device: 1 where they must not be used;
  // nothing where there is no scale.
  std::optional<torch::Tensor> unscale(const Optimizer& optimizer);

 private:
  torch::Tensor scale_;  // undefined: none is needed
  torch::Tensor good_steps_;
};

}  // namespace trainscope::workload
