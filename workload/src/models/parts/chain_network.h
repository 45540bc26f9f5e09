// A network of torchvision's later form: `features`, their mean over all positions, and a
// `classifier` with dropout.
#pragma once

#include <torch/nn/modules/dropout.h>

#include "models/network.h"
#include "models/parts/layers.h"

namespace trainscope::workload {

class ChainNetwork : public Network {
 public:
  torch::Tensor features(const torch::Tensor& images) override {
    return mean_over_positions(features_->forward(images));
  }
  torch::Tensor classify(const torch::Tensor& features) override {
    return classifier_->forward(features);
  }

 protected:
  // Called once, by the constructor of the network.
  void make_of(const Chain& features, std::int64_t width, std::uint32_t classes) {
    features_ = register_module("features", features);
    classifier_ = register_module(
        "classifier", Chain(torch::nn::Dropout(0.2), torch::nn::Linear(width, classes)));
    begin_weights(*this);
  }

 private:
  Chain features_{nullptr};
  Chain classifier_{nullptr};
};

}  // namespace trainscope::workload
