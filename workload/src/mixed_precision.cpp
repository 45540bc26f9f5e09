#include "mixed_precision.h"

#include <ATen/autocast_mode.h>

#include <vector>

namespace trainscope::workload {
namespace {

constexpr int kStepsToGrow = 2000;

}  // namespace

Autocast::Autocast(const torch::Device& device, Precision precision)
    : type_(device.type()), active_(precision != Precision::kFloat32) {
  if (!active_) return;
  at::autocast::set_autocast_dtype(
      type_, precision == Precision::kBfloat16 ? torch::kBFloat16 : torch::kHalf);
  at::autocast::set_autocast_enabled(type_, true);
}

Autocast::~Autocast() {
  if (!active_) return;
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(type_, false);
}

bool LossScale::unscale(const torch::nn::Module& network) {
  if (!active_) return true;
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& parameter : network.parameters()) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  if (gradients.empty()) return true;
  const auto options = torch::TensorOptions().device(gradients[0].device()).dtype(torch::kFloat);
  torch::Tensor overflow = torch::zeros({1}, options);
  const torch::Tensor inverse = torch::full({1}, 1.0 / scale_, options);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, overflow, inverse);
  if (overflow.item<float>() != 0.0F) {
    scale_ /= 2.0;
    good_steps_ = 0;
    return false;
  }
  if (++good_steps_ == kStepsToGrow) {
    scale_ *= 2.0;
    good_steps_ = 0;
  }
  return true;
}

}  // namespace trainscope::workload
