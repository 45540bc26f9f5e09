#include "optimizer.h"

#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <string>

namespace trainscope::workload {
namespace {

constexpr double kMomentum = 0.9;
constexpr const char* kPrefix = "state.optimizer.";

// The tensor of that name on the device of the parameter, or undefined where the file has none.
torch::Tensor state_tensor(const TensorFile& content, const std::string& name,
                           const torch::Tensor& parameter) {
  const TensorView* view = content.find(std::string(kPrefix) + name);
  if (view == nullptr) return {};
  Result<torch::Tensor> tensor = tensor_of(*view);
  if (!tensor.ok() || tensor.value().sizes() != parameter.sizes()) return {};
  // Like the parameter in its layout too: the optimizer adds them up element by element.
  torch::Tensor placed = torch::empty_like(parameter);
  placed.copy_(tensor.value());
  return placed;
}

Error missing(const std::string& name) {
  return {Fault::kBadInput, "the checkpoint has no optimizer state for " + name +
                                " (was it written with another --optimizer?)"};
}

Status load_adam(torch::optim::Optimizer& optimizer, const std::string& name,
                 const torch::Tensor& parameter, std::int64_t steps, const TensorFile& content) {
  auto state = std::make_unique<torch::optim::AdamParamState>();
  state->step(steps);
  state->exp_avg(state_tensor(content, "mean." + name, parameter));
  state->exp_avg_sq(state_tensor(content, "square." + name, parameter));
  if (!state->exp_avg().defined() || !state->exp_avg_sq().defined()) return missing(name);
  optimizer.state()[parameter.unsafeGetTensorImpl()] = std::move(state);
  return Done{};
}

Status load_sgd(torch::optim::Optimizer& optimizer, const std::string& name,
                const torch::Tensor& parameter, const TensorFile& content) {
  auto state = std::make_unique<torch::optim::SGDParamState>();
  state->momentum_buffer(state_tensor(content, "momentum." + name, parameter));
  if (!state->momentum_buffer().defined()) return missing(name);
  optimizer.state()[parameter.unsafeGetTensorImpl()] = std::move(state);
  return Done{};
}

}  // namespace

std::unique_ptr<torch::optim::Optimizer> make_optimizer(OptimizerKind kind, double learning_rate,
                                                        const Network& network) {
  if (kind == OptimizerKind::kSgd) {
    return std::make_unique<torch::optim::SGD>(
        network.parameters(), torch::optim::SGDOptions(learning_rate).momentum(kMomentum));
  }
  return std::make_unique<torch::optim::Adam>(network.parameters(),
                                              torch::optim::AdamOptions(learning_rate));
}

void add_optimizer_state(const torch::optim::Optimizer& optimizer, OptimizerKind kind,
                         const Network& network, TensorBundle& bundle) {
  std::int64_t steps = 0;
  for (const auto& item : network.named_parameters()) {
    const auto found = optimizer.state().find(item.value().unsafeGetTensorImpl());
    if (found == optimizer.state().end()) continue;
    if (kind == OptimizerKind::kSgd) {
      const auto& state = static_cast<const torch::optim::SGDParamState&>(*found->second);
      bundle.add(std::string(kPrefix) + "momentum." + item.key(), state.momentum_buffer());
    } else {
      const auto& state = static_cast<const torch::optim::AdamParamState&>(*found->second);
      bundle.add(std::string(kPrefix) + "mean." + item.key(), state.exp_avg());
      bundle.add(std::string(kPrefix) + "square." + item.key(), state.exp_avg_sq());
      steps = state.step();
    }
  }
  bundle.set("optimizer_steps", std::to_string(steps));
}

Status load_optimizer_state(torch::optim::Optimizer& optimizer, OptimizerKind kind,
                            const Network& network, const TensorFile& content) {
  const torch::NoGradGuard no_gradients;
  const auto found = content.metadata.find("optimizer_steps");
  const std::int64_t steps =
      found == content.metadata.end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 10);
  for (const auto& item : network.named_parameters()) {
    Status loaded = kind == OptimizerKind::kSgd
                        ? load_sgd(optimizer, item.key(), item.value(), content)
                        : load_adam(optimizer, item.key(), item.value(), steps, content);
    if (!loaded.ok()) return loaded;
  }
  return Done{};
}

}  // namespace trainscope::workload
