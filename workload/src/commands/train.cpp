#include "commands/train.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <cinttypes>
#include <cstdio>

#include "compute/device.h"
#include "compute/guarded.h"
#include "train/training.h"
#include "weights/weights.h"

namespace trainscope::workload {
namespace {

void print_setting(const TrainOptions& options, const Dataset& data, const Network& network,
                   const torch::Device& device) {
  std::printf("data %s train %zu test %zu from %s\n", data.name.c_str(), data.train->count(),
              data.test->count(), data.origin.c_str());
  std::printf("model %s parameters %" PRId64 " batch %" PRIu64 " seed %" PRIu64 "\n",
              options.model.c_str(), count_parameters(network), options.batch, options.seed);
  std::printf("device %s threads %d\n", device.str().c_str(), at::get_num_threads());
  std::fflush(stdout);
}

Result<Dataset> load_data(const TrainOptions& options, const Model& model) {
  DataRequest request;
  request.choice = options.data;
  request.seed = options.seed;
  request.channels = model.channels;
  request.side = options.side != 0 ? options.side : model.side;
  request.classes = model.classes;
  return load_dataset(request);
}

void lay_out_channels_last(Network& network) {
  const torch::NoGradGuard no_gradients;
  for (torch::Tensor& parameter : network.parameters()) {
    if (parameter.dim() != 4) continue;
    parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
  }
}

Result<std::shared_ptr<Network>> make_ready(const TrainOptions& options, const Model& model,
                                            const Dataset& data, const torch::Device& device) {
  torch::manual_seed(options.seed);
  TS_TRY(std::shared_ptr<Network> network,
         make_network(model, {data.train->shape(), data.classes}));
  if (!options.weights.empty()) {
    TS_TRY(const TensorFile content, read_safetensors(options.weights));
    TS_CHECK_OK(load_network(*network, content, options.weights));
  }
  network->to(device);
  if (options.channels_last) lay_out_channels_last(*network);
  return network;
}

// None where none is wanted, or none is possible and that may be.
Result<std::unique_ptr<StepGraph>> choose_graph(const TrainOptions& options,
                                                const torch::Device& device) {
  if (!options.graph) return std::unique_ptr<StepGraph>();
  Result<std::unique_ptr<StepGraph>> graph = make_step_graph(device);
  if (graph || options.strict) return graph;
  std::fprintf(stderr, "trainscope-workload: training without a graph: %s\n",
               graph.error().message().c_str());
  return std::unique_ptr<StepGraph>();
}

Status train_unguarded(const TrainOptions& options) {
  const Model* model = find_model(options.model);
  if (model == nullptr) return Error("unknown model " + options.model);
  TS_TRY(const Dataset data, load_data(options, *model));
  TS_TRY(const c10::Device device, choose_device(options.device, options.strict));
  if (options.threads > 0) at::set_num_threads(options.threads);
  if (options.inter_threads > 0) at::set_num_interop_threads(options.inter_threads);
  // Before the network: all work on the device is to be in the graph's stream.
  TS_TRY(std::unique_ptr<StepGraph> graph, choose_graph(options, device));
  TS_TRY(std::shared_ptr<Network> network, make_ready(options, *model, data, device));
  TS_TRY(TrainingReport report, TrainingReport::open(options));
  print_setting(options, data, *network, device);
  Training training(options, data, {*model, std::move(graph), network, device, std::move(report)});
  return training.run();
}

}  // namespace

Status train(const TrainOptions& options) {
  return guarded([&] { return train_unguarded(options); });
}

}  // namespace trainscope::workload
