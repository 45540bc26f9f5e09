#include "weights/trained_network.h"

#include <zlib.h>

#include "weights/safetensors.h"
#include "weights/torchscript.h"
#include "weights/weights.h"

namespace trainscope::workload {
namespace {

std::uint32_t crc_of(const TensorFile& content) {
  if (!content.storage.empty()) {
    return static_cast<std::uint32_t>(crc32_z(0, content.storage.data(), content.storage.size()));
  }
  uLong crc = 0;
  for (const TensorView& view : content.tensors) {
    crc = crc32_z(crc, view.bytes.data(), view.bytes.size());
  }
  return static_cast<std::uint32_t>(crc);
}

// The last parameter of every network here is the bias of its last layer.
Result<std::uint32_t> count_classes(const Model& model, const ImageShape& shape,
                                    const TensorFile& content, const std::string& file) {
  const std::shared_ptr<Network> sample = model.make({shape, 2});
  const std::string name = sample->named_parameters().back().key();
  const TensorView* bias = content.find(name);
  if (bias == nullptr || bias->shape.size() != 1 || bias->shape[0] < 1) {
    return Error(file + ": no tensor " + name + " as " + std::string(model.name) + " has it");
  }
  return static_cast<std::uint32_t>(bias->shape[0]);
}

Result<TrainedNetwork> network_of(const TensorFile& content, const std::string& weights,
                                  const std::string& model, const c10::Device& device) {
  const WeightsNote note = read_note(content);
  TrainedNetwork trained;
  const std::string& name = model.empty() ? note.model : model;
  trained.model = find_model(name);
  if (trained.model == nullptr) {
    return Error(weights + (name.empty() ? ": does not name its model; use --model"
                                         : ": unknown model " + name));
  }
  trained.shape = {trained.model->channels, trained.model->side, trained.model->side};
  TS_TRY(trained.classes, count_classes(*trained.model, trained.shape, content, weights));
  trained.network = trained.model->make({trained.shape, trained.classes});
  TS_CHECK_OK(load_network(*trained.network, content, weights));
  trained.network->to(device);
  trained.network->eval();
  trained.class_names = note.class_names;
  trained.crc = crc_of(content);
  return trained;
}

}  // namespace

Result<TrainedNetwork> load_trained(const std::string& weights, const std::string& model,
                                    const c10::Device& device) {
  if (weights.ends_with(".pt")) {
    TS_TRY(const TensorBundle bundle, read_torchscript(weights));
    return network_of(bundle.content(), weights, model, device);
  }
  TS_TRY(const TensorFile content, read_safetensors(weights));
  return network_of(content, weights, model, device);
}

}  // namespace trainscope::workload
