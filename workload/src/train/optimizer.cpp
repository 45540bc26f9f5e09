#include "train/optimizer.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_sgd.h>

#include <cstdlib>

namespace trainscope::workload {
namespace {

constexpr double kMomentum = 0.9;
constexpr double kMeanDecay = 0.9;
constexpr double kSquareDecay = 0.999;
constexpr double kEpsilon = 1e-8;
constexpr const char* kPrefix = "state.optimizer.";

std::vector<torch::Tensor> zeros_like_all(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> zeros;
  zeros.reserve(tensors.size());
  for (const torch::Tensor& tensor : tensors) zeros.push_back(torch::zeros_like(tensor));
  return zeros;
}

}  // namespace

Optimizer::Optimizer(OptimizerKind kind, double learning_rate, const Network& network)
    : kind_(kind), learning_rate_(learning_rate) {
  const torch::NoGradGuard no_gradients;
  for (const auto& item : network.named_parameters()) {
    names_.push_back(item.key());
    parameters_.push_back(item.value());
  }
  if (kind_ == OptimizerKind::kSgd) {
    kept_ = {{"momentum.", zeros_like_all(parameters_)}};
  } else {
    kept_ = {{"mean.", zeros_like_all(parameters_)}, {"square.", zeros_like_all(parameters_)}};
  }
  steps_ = torch::zeros({}, parameters_.at(0).options().dtype(torch::kFloat).requires_grad(false));
}

void Optimizer::zero_grad() {
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

std::vector<torch::Tensor> Optimizer::gradients() const {
  std::vector<torch::Tensor> all;
  all.reserve(parameters_.size());
  for (const torch::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) all.push_back(parameter.grad());
  }
  return all;
}

std::vector<torch::Tensor> Optimizer::with_gradient(const std::vector<torch::Tensor>& all) const {
  std::vector<torch::Tensor> some;
  some.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (parameters_[i].grad().defined()) some.push_back(all[i]);
  }
  return some;
}

void Optimizer::step(const std::optional<torch::Tensor>& overflow) {
  const torch::NoGradGuard no_gradients;
  const std::vector<torch::Tensor> slopes = gradients();
  const std::vector<torch::Tensor> parameters = with_gradient(parameters_);
  const std::vector<torch::Tensor> first = with_gradient(kept_[0].tensors);
  steps_.add_(1);
  if (overflow) steps_.sub_(overflow->squeeze());
  if (kind_ == OptimizerKind::kSgd) {
    // A momentum that begins at zero needs no first step of another kind.
    at::_fused_sgd_(parameters, slopes, first, /*weight_decay=*/0.0, kMomentum, learning_rate_,
                    /*dampening=*/0.0, /*nesterov=*/false, /*maximize=*/false,
                    /*is_first_step=*/false, std::nullopt, overflow);
    return;
  }
  const std::vector<torch::Tensor> steps(parameters.size(), steps_);
  at::_fused_adam_(parameters, slopes, first, with_gradient(kept_[1].tensors), {}, steps,
                   learning_rate_, kMeanDecay, kSquareDecay, /*weight_decay=*/0.0, kEpsilon,
                   /*amsgrad=*/false, /*maximize=*/false, std::nullopt, overflow);
}

void Optimizer::add_state(TensorBundle& bundle) const {
  for (const Kept& kept : kept_) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      bundle.add(std::string(kPrefix) + kept.name + names_[i], kept.tensors[i]);
    }
  }
  bundle.set("optimizer_steps", std::to_string(std::llround(steps_.item<double>())));
}

Status Optimizer::load_state(const TensorFile& content) {
  const torch::NoGradGuard no_gradients;
  for (Kept& kept : kept_) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const TensorView* view = content.find(std::string(kPrefix) + kept.name + names_[i]);
      const Result<torch::Tensor> tensor =
          view != nullptr ? tensor_of(*view) : Result<torch::Tensor>(Error(""));
      if (!tensor || tensor->sizes() != parameters_[i].sizes()) {
        return Error("the checkpoint has no optimizer state for " + names_[i] +
                     " (was it written with another --optimizer?)");
      }
      kept.tensors[i].copy_(*tensor);
    }
  }
  const auto found = content.metadata.find("optimizer_steps");
  steps_.fill_(found == content.metadata.end() ? 0.0 : std::strtod(found->second.c_str(), nullptr));
  return {};
}

}  // namespace trainscope::workload
