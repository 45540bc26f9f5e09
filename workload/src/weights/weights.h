// A network's weights as a safetensors file, and back.
//
// Guarantees: every parameter and buffer is written under its name and read back bit for bit; a
// file that lacks one, has one of another shape, or has one that the network does not know, is an
// error that names it, and the network is then not to be used. Limits: tensors whose name begins
// with "state." are not the network's and are passed over.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "models/network.h"
#include "weights/safetensors.h"

namespace trainscope::workload {

// Tensors on their way to a file, or from a program; keeps alive what the file's views point into.
class TensorBundle {
 public:
  void add(const std::string& name, const torch::Tensor& tensor);
  void add_network(const Network& network);
  void set(const std::string& key, const std::string& value) { file_.metadata[key] = value; }
  Status write(const std::filesystem::path& file) const { return write_safetensors(file, file_); }
  const TensorFile& content() const { return file_; }

 private:
  TensorFile file_;
  std::vector<torch::Tensor> kept_;
};

// A copy; fails where libtorch has no such type.
Result<torch::Tensor> tensor_of(const TensorView& view);

// `file` names the file in errors.
Status load_network(Network& network, const TensorFile& content, const std::string& file);

// The metadata of a file of weights.
struct WeightsNote {
  std::string model;
  std::vector<std::string> class_names;  // one per score, or none
};

// The note as the metadata of a file.
std::map<std::string, std::string> note_metadata(const WeightsNote& note);

Status write_weights(const std::filesystem::path& file, const Network& network,
                     const WeightsNote& note);
WeightsNote read_note(const TensorFile& content);

}  // namespace trainscope::workload
