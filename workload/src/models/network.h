// What every network here is: a trunk that turns images into features, and a last layer that
// turns features into one score per class.
//
// Guarantees: parameters and buffers have the names that PyTorch's own models of that name have
// (torchvision's, where there is one), so that weights can be exchanged.
#pragma once

#include <torch/nn/module.h>

namespace trainscope::workload {

struct Scores {
  torch::Tensor main;
  torch::Tensor
      auxiliary;  // undefined except for networks with an auxiliary classifier, in training
};

class Network : public torch::nn::Module {
 public:
  // Floats shaped [batch, channels, rows, columns] in, [batch, features] out.
  virtual torch::Tensor features(const torch::Tensor& images) = 0;
  // [batch, features] in, [batch, classes] out.
  virtual torch::Tensor classify(const torch::Tensor& features) = 0;

  virtual Scores forward(const torch::Tensor& images) { return {classify(features(images)), {}}; }
};

}  // namespace trainscope::workload
