#include "train/checkpoint.h"

#include <ATen/CPUGeneratorImpl.h>

#include <charconv>
#include <map>
#include <string>

#include "weights/weights.h"

namespace trainscope::workload {
namespace {

constexpr const char* kRandomState = "state.random";

// What must be the same for the steps to be the same.
std::map<std::string, std::string> identity(const TrainOptions& options) {
  return {{"model", options.model},
          {"seed", std::to_string(options.seed)},
          {"batch", std::to_string(options.batch)},
          {"optimizer", options.optimizer == OptimizerKind::kSgd ? "sgd" : "adam"}};
}

std::string value_of(const TensorFile& content, const std::string& key) {
  const auto found = content.metadata.find(key);
  return found == content.metadata.end() ? "" : found->second;
}

}  // namespace

Status save_checkpoint(const TrainOptions& options, const Network& network,
                       const Optimizer& optimizer, std::uint64_t steps) {
  TensorBundle bundle;
  bundle.add_network(network);
  optimizer.add_state(bundle);
  bundle.add(kRandomState, at::detail::getDefaultCPUGenerator().get_state());
  for (const auto& [key, value] : identity(options)) bundle.set(key, value);
  bundle.set("steps", std::to_string(steps));
  return bundle.write(options.checkpoint);
}

Result<std::uint64_t> load_checkpoint(const TrainOptions& options, Network& network,
                                      Optimizer& optimizer) {
  const std::string& name = options.checkpoint;
  const Result<TensorFile> content = read_safetensors(name);
  if (!content.ok()) return content.error();
  for (const auto& [key, value] : identity(options)) {
    const std::string found = value_of(content.value(), key);
    if (found == value) continue;
    return Error{Fault::kBadInput,
                 name + ": written with --" + key + " '" + found + "', not '" + value + "'"};
  }
  const std::string text = value_of(content.value(), "steps");
  std::uint64_t steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (error != std::errc{} || text.empty() || end != text.data() + text.size()) {
    return Error{Fault::kBadInput, name + ": not a checkpoint of this program"};
  }
  if (Status loaded = load_network(network, content.value(), name); !loaded.ok()) {
    return loaded.error();
  }
  Status state = optimizer.load_state(content.value());
  if (!state.ok()) return Error{Fault::kBadInput, name + ": " + state.error().message};
  const TensorView* random = content.value().find(kRandomState);
  if (random == nullptr) return Error{Fault::kBadInput, name + ": no " + kRandomState};
  Result<torch::Tensor> random_state = tensor_of(*random);
  if (!random_state.ok()) return random_state.error();
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_state(random_state.value());
  return steps;
}

}  // namespace trainscope::workload
