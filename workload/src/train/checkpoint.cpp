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
  TS_TRY(const TensorFile content, read_safetensors(name));
  for (const auto& [key, value] : identity(options)) {
    const std::string found = value_of(content, key);
    if (found == value) continue;
    return Error(name + ": written with --" + key + " '" + found + "', not '" + value + "'");
  }
  const std::string text = value_of(content, "steps");
  std::uint64_t steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (error != std::errc{} || text.empty() || end != text.data() + text.size()) {
    return Error(name + ": not a checkpoint of this program");
  }
  TS_CHECK_OK(load_network(network, content, name));
  TS_CHECK_OK(optimizer.load_state(content).with_context(name));
  const TensorView* random = content.find(kRandomState);
  if (random == nullptr) return Error(name + ": no " + kRandomState);
  TS_TRY(torch::Tensor random_state, tensor_of(*random));
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_state(random_state);
  return steps;
}

}  // namespace trainscope::workload
