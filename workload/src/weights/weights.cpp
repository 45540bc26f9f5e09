#include "weights/weights.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>

namespace trainscope::workload {
namespace {

constexpr std::string_view kStatePrefix = "state.";

constexpr std::array<std::pair<std::string_view, torch::ScalarType>, 8> kTypes{
    {{"F32", torch::kFloat},
     {"F64", torch::kDouble},
     {"F16", torch::kHalf},
     {"BF16", torch::kBFloat16},
     {"I64", torch::kLong},
     {"I32", torch::kInt},
     {"U8", torch::kByte},
     {"BOOL", torch::kBool}}};

std::string type_name(torch::ScalarType type) {
  for (const auto& [name, known] : kTypes) {
    if (known == type) return std::string(name);
  }
  return "unknown";
}

// All that makes up a network, parameters before buffers.
std::vector<std::pair<std::string, torch::Tensor>> named_tensors(const Network& network) {
  std::vector<std::pair<std::string, torch::Tensor>> all;
  for (const auto& item : network.named_parameters()) all.emplace_back(item.key(), item.value());
  for (const auto& item : network.named_buffers()) all.emplace_back(item.key(), item.value());
  return all;
}

Status load_one(const std::string& name, const torch::Tensor& target, const TensorFile& content,
                const std::string& file) {
  const TensorView* view = content.find(name);
  if (view == nullptr) return Error(file + ": no tensor " + name);
  if (target.sizes() != torch::IntArrayRef(view->shape)) {
    return Error(file + ": tensor " + name + " has another shape than the model");
  }
  TS_TRY(const torch::Tensor source, tensor_of(*view).with_context(file));
  target.copy_(source);
  return {};
}

}  // namespace

void TensorBundle::add(const std::string& name, const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach().to(torch::kCPU).contiguous();
  TensorView view;
  view.name = name;
  view.type = type_name(plain.scalar_type());
  view.shape = plain.sizes().vec();
  view.bytes = {static_cast<const std::uint8_t*>(plain.const_data_ptr()), plain.nbytes()};
  file_.tensors.push_back(std::move(view));
  kept_.push_back(plain);
}

void TensorBundle::add_network(const Network& network) {
  for (const auto& [name, tensor] : named_tensors(network)) add(name, tensor);
}

Result<torch::Tensor> tensor_of(const TensorView& view) {
  for (const auto& [name, type] : kTypes) {
    if (name != view.type) continue;
    torch::Tensor tensor = torch::empty(view.shape, type);
    std::copy_n(view.bytes.data(), view.bytes.size(),
                static_cast<std::uint8_t*>(tensor.mutable_data_ptr()));
    return tensor;
  }
  return Error("tensor " + view.name + " has type " + view.type);
}

Status load_network(Network& network, const TensorFile& content, const std::string& file) {
  const torch::NoGradGuard no_gradients;
  std::set<std::string_view> known;
  const auto tensors = named_tensors(network);
  for (const auto& [name, tensor] : tensors) {
    TS_CHECK_OK(load_one(name, tensor, content, file));
    known.insert(name);
  }
  for (const TensorView& view : content.tensors) {
    if (view.name.starts_with(kStatePrefix) || known.contains(view.name)) continue;
    return Error(file + ": tensor " + view.name + " is not the model's");
  }
  return {};
}

// Names are stored one per line: a newline inside a name would make two of it.
std::map<std::string, std::string> note_metadata(const WeightsNote& note) {
  std::map<std::string, std::string> metadata = {{"model", note.model}};
  std::string names;
  for (std::string name : note.class_names) {
    std::ranges::replace(name, '\n', ' ');
    names += name + '\n';
  }
  if (!names.empty()) metadata["labels"] = names;
  return metadata;
}

Status write_weights(const std::filesystem::path& file, const Network& network,
                     const WeightsNote& note) {
  TensorBundle bundle;
  bundle.add_network(network);
  for (const auto& [key, value] : note_metadata(note)) bundle.set(key, value);
  return bundle.write(file);
}

WeightsNote read_note(const TensorFile& content) {
  WeightsNote note;
  if (const auto model = content.metadata.find("model"); model != content.metadata.end()) {
    note.model = model->second;
  }
  const auto labels = content.metadata.find("labels");
  if (labels == content.metadata.end()) return note;
  std::istringstream lines(labels->second);
  for (std::string line; std::getline(lines, line);) note.class_names.push_back(line);
  return note;
}

}  // namespace trainscope::workload
