#include "weights/torchscript.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <array>
#include <sstream>

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

// Files in the archive next to the program: one of tensor names, and the note.
constexpr const char* kTensorNames = "tensors";
constexpr std::array kNoteKeys = {"model", "labels"};

torch::jit::ExtraFilesMap extra_files(const Network& network, const WeightsNote& note) {
  torch::jit::ExtraFilesMap files;
  for (const auto& [key, value] : note_metadata(note)) files[key] = value;
  std::string& names = files[kTensorNames];
  for (const auto& item : network.named_parameters()) names += item.key() + '\n';
  for (const auto& item : network.named_buffers()) names += item.key() + '\n';
  return files;
}

Status read_program(const std::string& file, TensorBundle& bundle) {
  torch::jit::ExtraFilesMap files = {{kTensorNames, ""}};
  for (const char* key : kNoteKeys) files[key] = "";
  const torch::jit::Module module = torch::jit::load(file, torch::kCPU, files);
  for (const char* key : kNoteKeys) {
    if (!files[key].empty()) bundle.set(key, files[key]);
  }
  if (files[kTensorNames].empty()) return Error("it does not name its tensors; export it again");
  std::istringstream names(files[kTensorNames]);
  for (std::string name; std::getline(names, name);) {
    bundle.add(name, module.attr(with_underscores(name)).toTensor());
  }
  return {};
}

}  // namespace

// What the network does to the example is written down, operation by operation.
Status write_torchscript(const std::string& file, Network& network, const torch::Tensor& example,
                         const WeightsNote& note) {
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
           module.save(file, extra_files(network, note));
           return {};
         })
      .with_context(file + ": cannot write");
}

Result<TensorBundle> read_torchscript(const std::string& file) {
  TensorBundle bundle;
  const Status done = guarded([&] { return read_program(file, bundle); });
  // The file is at fault, not the run.
  if (!done) return Error(file + ": not a network that --export wrote: " + done.error().message());
  return bundle;
}

}  // namespace trainscope::workload
