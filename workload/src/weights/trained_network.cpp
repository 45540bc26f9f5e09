#include "weights/trained_network.h"

#include <zlib.h>

#include "weights/safetensors.h"
#include "weights/weights.h"

namespace trainscope::workload {
namespace {

std::uint32_t crc_of(const std::vector<std::uint8_t>& bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

// The last parameter of every network here is the bias of its last layer.
Result<std::uint32_t> count_classes(const Model& model, const PictureShape& shape,
                                    const TensorFile& content, const std::string& file) {
  const std::shared_ptr<Network> sample = model.make({shape, 2});
  const std::string name = sample->named_parameters().back().key();
  const TensorView* bias = content.find(name);
  if (bias == nullptr || bias->shape.size() != 1 || bias->shape[0] < 1) {
    return Error{Fault::kBadInput,
                 file + ": no tensor " + name + " as " + std::string(model.name) + " has it"};
  }
  return static_cast<std::uint32_t>(bias->shape[0]);
}

}  // namespace

Result<TrainedNetwork> load_trained(const std::string& weights, const std::string& model,
                                    const c10::Device& device) {
  const Result<TensorFile> content = read_safetensors(weights);
  if (!content.ok()) return content.error();
  const WeightsNote note = read_note(content.value());
  TrainedNetwork trained;
  const std::string& name = model.empty() ? note.model : model;
  trained.model = find_model(name);
  if (trained.model == nullptr) {
    return Error{Fault::kBadInput,
                 weights + (name.empty() ? ": does not name its model; give --model"
                                         : ": unknown model " + name)};
  }
  trained.shape = {trained.model->channels, trained.model->side, trained.model->side};
  const Result<std::uint32_t> classes =
      count_classes(*trained.model, trained.shape, content.value(), weights);
  if (!classes.ok()) return classes.error();
  trained.classes = classes.value();
  trained.network = trained.model->make({trained.shape, trained.classes});
  if (Status loaded = load_network(*trained.network, content.value(), weights); !loaded.ok()) {
    return loaded.error();
  }
  trained.network->to(device);
  trained.network->eval();
  trained.class_names = note.class_names;
  trained.crc = crc_of(content.value().storage);
  return trained;
}

}  // namespace trainscope::workload
