#include "weights/torchscript.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <algorithm>

#include "compute/guarded.h"

namespace trainscope::workload {
namespace {

std::string with_underscores(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

torch::jit::Module module_with_weights_of(const Network& network) {
  torch::jit::Module module("__torch__.trainscope.Network");
  for (const auto& item : network.named_parameters()) {
    module.register_parameter(with_underscores(item.key()), item.value(), /*is_buffer=*/false);
  }
  for (const auto& item : network.named_buffers()) {
    module.register_buffer(with_underscores(item.key()), item.value());
  }
  return module;
}

}  // namespace

// What the network does to the example is written down, operation by operation.
Status write_torchscript(const std::string& file, Network& network, const torch::Tensor& example) {
  const torch::NoGradGuard no_gradients;
  network.eval();
  torch::jit::Module module = module_with_weights_of(network);
  const auto forward = [&network](const torch::jit::Stack& inputs) {
    return torch::jit::Stack{network.forward(inputs.at(0).toTensor()).main};
  };
  const auto no_name = [](const torch::Tensor&) { return std::string(); };
  const auto [traced, outputs] =
      torch::jit::tracer::trace({example}, forward, no_name, /*strict=*/true,
                                /*force_outplace=*/false, &module, {"images"});
  const c10::QualifiedName name(*module.type()->name(), "forward");
  module.type()->addMethod(
      module._ivalue()->compilation_unit()->create_function(name, traced->graph));
  module.eval();
  return guarded([&]() -> Status {
           module.save(file);
           return {};
         })
      .with_context(file + ": cannot write");
}

}  // namespace trainscope::workload
