// Computing in 16 bits where it is safe: libtorch's autocast, and for fp16 a scale that keeps small
// gradients from vanishing.
//
// Guarantees: weights stay in 32 bits; a step whose gradients overflowed changes nothing, and the
// scale is halved (it doubles again after 2,000 good steps).
#pragma once

#include <torch/nn/module.h>

#include "arguments.h"

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
  explicit LossScale(Precision precision) : active_(precision == Precision::kFloat16) {}

  torch::Tensor scaled(const torch::Tensor& loss) const { return active_ ? loss * scale_ : loss; }
  // Takes the scale out of the gradients; false where they must not be used.
  bool unscale(const torch::nn::Module& network);

 private:
  bool active_;
  double scale_ = 65536.0;
  int good_steps_ = 0;
};

}  // namespace trainscope::workload
