// A network with weights from a file, ready to be asked.
//
// Guarantees: the number of classes is that of the file's last layer; in evaluation mode, on the
// device.
// Limits: images have the model's own side and channels.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "models/model.h"

namespace trainscope::workload {

struct TrainedNetwork {
  const Model* model = nullptr;
  std::shared_ptr<Network> network;
  ImageShape shape;
  std::uint32_t classes = 0;
  std::vector<std::string> class_names;  // may be empty
  std::uint32_t crc = 0;                 // of the file: two with the same are the same network
};

// A file NAME.pt is a program that --export wrote, any other name safetensors. `model` may be empty
// where the file names it.
Result<TrainedNetwork> load_trained(const std::string& weights, const std::string& model,
                                    const c10::Device& device);

}  // namespace trainscope::workload
