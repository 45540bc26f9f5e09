#include "commands/label.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>

#include "compute/device.h"
#include "compute/guarded.h"
#include "compute/image_tensor.h"
#include "data/image_folder.h"
#include "monotonic_clock.h"
#include "weights/trained_network.h"

namespace trainscope::workload {
namespace {

struct CallTimes {
  double first_s = 0.0;
  double warm_s = 0.0;  // mean
};

// Brought back to the CPU, which waits for the device.
torch::Tensor scores_of(Network& network, const torch::Tensor& image) {
  return network.forward(image).main.softmax(1)[0].to(torch::kCPU);
}

torch::Tensor timed_scores(const LabelOptions& options, Network& network,
                           const torch::Tensor& image, CallTimes& times) {
  const double begin_s = monotonic_s();
  torch::Tensor scores = scores_of(network, image);
  times.first_s = monotonic_s() - begin_s;
  const double warm_begin_s = monotonic_s();
  for (std::uint64_t i = 0; i < options.repeat; ++i) scores = scores_of(network, image);
  times.warm_s = (monotonic_s() - warm_begin_s) / static_cast<double>(options.repeat);
  return scores;
}

void print_best(const torch::Tensor& scores, const std::vector<std::string>& names,
                std::uint64_t top) {
  const auto count = std::min<std::int64_t>(static_cast<std::int64_t>(top), scores.numel());
  const auto [values, indices] = scores.topk(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(indices[i].item<std::int64_t>());
    const std::string name = index < names.size() ? names[index] : "class " + std::to_string(index);
    std::printf("%s (score=%.5f)\n", name.c_str(), values[i].item<double>());
  }
}

Status label_unguarded(const LabelOptions& options) {
  TS_TRY(const c10::Device device, choose_device(options.device, options.strict));
  if (options.threads > 0) at::set_num_threads(options.threads);
  TS_TRY(const TrainedNetwork trained, load_trained(options.weights, options.model, device));
  const Model& model = *trained.model;
  Batch batch;
  const ImageShape& shape = trained.shape;
  batch.pixels.resize(shape.bytes());
  batch.labels.push_back(0);
  StageTimes stages;
  TS_CHECK_OK(read_image_file(options.image, {shape.channels, shape.rows, model.crop}, batch.pixels,
                              stages));
  const torch::NoGradGuard no_gradients;
  const ImageTensors tensors(shape, model.normalisation, device, false);
  CallTimes times;
  const torch::Tensor scores =
      timed_scores(options, *trained.network, tensors.images(batch), times);
  print_best(scores, trained.class_names, options.top);
  std::printf("read %.1f ms decode %.1f ms first call %.1f ms warm call %.1f ms\n",
              stages.read_s * 1e3, stages.decode_s * 1e3, times.first_s * 1e3, times.warm_s * 1e3);
  return {};
}

}  // namespace

Status label(const LabelOptions& options) {
  return guarded([&] { return label_unguarded(options); });
}

}  // namespace trainscope::workload
