#include "models/model.h"

#include <algorithm>

namespace trainscope::workload {

std::vector<ModelName> model_names() {
  std::vector<ModelName> names;
  for (const Model* model : all_models()) names.push_back({model->name, model->summary});
  return names;
}

const Model* find_model(std::string_view name) {
  const auto models = all_models();
  const auto found = std::ranges::find(models, name, &Model::name);
  return found == models.end() ? nullptr : *found;
}

Result<std::shared_ptr<Network>> make_network(const Model& model, const NetworkShape& shape) {
  if (std::min(shape.image.rows, shape.image.columns) < model.smallest_side) {
    return Error(std::string(model.name) + " needs images of at least " +
                 std::to_string(model.smallest_side) + " pixels per side");
  }
  return model.make(shape);
}

std::int64_t count_parameters(const Network& network) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : network.parameters()) count += parameter.numel();
  return count;
}

}  // namespace trainscope::workload
