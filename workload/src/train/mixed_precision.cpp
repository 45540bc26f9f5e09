#include "train/mixed_precision.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>

namespace trainscope::workload {
namespace {

constexpr double kFirstScale = 65536.0;
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

LossScale::LossScale(const torch::Device& device, Precision precision) {
  if (precision != Precision::kFloat16) return;
  scale_ = torch::full({1}, kFirstScale, torch::dtype(torch::kFloat).device(device));
  good_steps_ = torch::zeros({1}, torch::dtype(torch::kInt).device(device));
}

std::optional<torch::Tensor> LossScale::unscale(const Optimizer& optimizer) {
  if (!scale_.defined()) return std::nullopt;
  const torch::NoGradGuard no_gradients;
  torch::Tensor overflow = torch::zeros_like(scale_);
  at::_amp_foreach_non_finite_check_and_unscale_(optimizer.gradients(), overflow,
                                                 scale_.reciprocal());
  at::_amp_update_scale_(scale_, good_steps_, overflow, /*growth=*/2.0, /*backoff=*/0.5,
                         kStepsToGrow);
  return overflow;
}

}  // namespace trainscope::workload
