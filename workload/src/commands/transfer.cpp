#include "commands/transfer.h"

#include <ATen/Parallel.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "compute/device.h"
#include "compute/guarded.h"
#include "data/split.h"
#include "monotonic_clock.h"
#include "train/summaries.h"
#include "trainscope.hpp"
#include "transfer/bottlenecks.h"
#include "weights/weights.h"

namespace trainscope::workload {
namespace {

namespace F = torch::nn::functional;

// The vectors and labels of one set, and which images they are.
struct VectorSet {
  std::vector<std::int64_t> indices;
  torch::Tensor vectors;
  torch::Tensor labels;

  std::int64_t count() const { return static_cast<std::int64_t>(indices.size()); }
};

struct VectorSets {
  VectorSet training;
  VectorSet validation;
  VectorSet test;
};

VectorSets split_vectors(const TransferOptions& options, const ImageList& list,
                         const torch::Tensor& vectors) {
  VectorSets sets;
  const SplitShares shares{options.validation_percent, options.test_percent};
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < list.images.size(); ++i) {
    const SetKind kind = choose_set(list.images[i].name, shares);
    VectorSet& set = kind == SetKind::kTraining     ? sets.training
                     : kind == SetKind::kValidation ? sets.validation
                                                    : sets.test;
    set.indices.push_back(static_cast<std::int64_t>(i));
    labels.push_back(list.images[i].label);
  }
  const torch::Tensor all_labels = torch::tensor(labels);
  for (VectorSet* set : {&sets.training, &sets.validation, &sets.test}) {
    const torch::Tensor rows = torch::tensor(set->indices, torch::kLong);
    set->vectors = vectors.index_select(0, rows);
    set->labels = all_labels.index_select(0, rows);
  }
  return sets;
}

double accuracy_of(torch::nn::Linear& layer, const VectorSet& set) {
  const torch::NoGradGuard no_gradients;
  return layer(set.vectors).argmax(1).eq(set.labels).to(torch::kDouble).mean().item<double>();
}

// Trains one last layer at one learning rate. Steps are numbered on over all rates.
class LayerTraining {
 public:
  LayerTraining(const TransferOptions& options, const VectorSets& sets)
      : options_(options), sets_(sets) {}

  torch::nn::Linear run(std::int64_t classes, double learning_rate) {
    torch::manual_seed(options_.seed);
    torch::nn::Linear layer(sets_.training.vectors.size(1), classes);
    torch::optim::SGD optimizer(layer->parameters(), torch::optim::SGDOptions(learning_rate));
    Summaries summaries(summary_folder(learning_rate));
    for (std::uint64_t i = 1; i <= options_.steps; ++i) {
      const double loss = step(layer, optimizer);
      trainscope::step(++steps_, {{"loss", loss}});
      if (i % options_.evaluate_every == 0) report(i, layer, loss, summaries);
    }
    if (const Status written = summaries.state(); !written) {
      std::fprintf(stderr, "trainscope-workload: %s\n", written.error().message().c_str());
    }
    return layer;
  }

 private:
  double step(torch::nn::Linear& layer, torch::optim::SGD& optimizer) {
    const torch::Tensor chosen = torch::randint(
        sets_.training.count(), {static_cast<std::int64_t>(options_.batch)}, torch::kLong);
    optimizer.zero_grad();
    const torch::Tensor loss =
        F::cross_entropy(layer(sets_.training.vectors.index_select(0, chosen)),
                         sets_.training.labels.index_select(0, chosen));
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  }

  // TensorBoard shows folders side by side: one for each rate.
  std::filesystem::path summary_folder(double learning_rate) const {
    if (options_.summaries.empty()) return {};
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "rate_%g", learning_rate);
    return std::filesystem::path(options_.summaries) / name.data();
  }

  void report(std::uint64_t number, torch::nn::Linear& layer, double loss, Summaries& summaries) {
    const double learnt = accuracy_of(layer, sets_.training);
    std::printf("step %" PRIu64 " loss %.4f train accuracy %.4f", number, loss, learnt);
    summaries.scalar("train", "loss", number, loss);
    summaries.scalar("train", "accuracy", number, learnt);
    if (sets_.validation.count() > 0) {
      const double accuracy = accuracy_of(layer, sets_.validation);
      trainscope::scalar("accuracy", accuracy, trainscope::Set::validation);
      summaries.scalar("validation", "accuracy", number, accuracy);
      std::printf(" validation accuracy %.4f", accuracy);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  const TransferOptions& options_;
  const VectorSets& sets_;
  long long steps_ = 0;
};

struct Best {
  torch::nn::Linear layer{nullptr};
  double learning_rate = 0.0;
  double accuracy = -1.0;
};

Best try_rates(const TransferOptions& options, const VectorSets& sets, std::int64_t classes) {
  LayerTraining training(options, sets);
  // With so few images that none is for validation, the training images must choose.
  const VectorSet& judge = sets.validation.count() > 0 ? sets.validation : sets.training;
  Best best;
  for (const double rate : options.learning_rates) {
    torch::nn::Linear layer = training.run(classes, rate);
    const double accuracy = accuracy_of(layer, judge);
    std::printf("rate %g %s accuracy %.4f\n", rate,
                sets.validation.count() > 0 ? "validation" : "train", accuracy);
    if (accuracy > best.accuracy) best = {layer, rate, accuracy};
  }
  return best;
}

void report_test(const TransferOptions& options, const VectorSets& sets, const ImageList& list,
                 Best& best) {
  if (sets.test.count() == 0) {
    std::printf("test images 0: too few to hold one out (see --test)\n");
    return;
  }
  const double accuracy = accuracy_of(best.layer, sets.test);
  trainscope::scalar("accuracy", accuracy, trainscope::Set::test);
  std::printf("test images %" PRId64 " accuracy %.4f rate %g\n", sets.test.count(), accuracy,
              best.learning_rate);
  if (!options.misclassified) return;
  const torch::NoGradGuard no_gradients;
  const torch::Tensor chosen = best.layer(sets.test.vectors).argmax(1);
  for (std::int64_t i = 0; i < sets.test.count(); ++i) {
    const auto& image =
        list.images[static_cast<std::size_t>(sets.test.indices[static_cast<std::size_t>(i)])];
    const auto named = static_cast<std::uint32_t>(chosen[i].item<std::int64_t>());
    if (named == image.label) continue;
    std::printf("misclassified %s as %s\n", image.name.c_str(), list.classes[named].c_str());
  }
}

// The trunk with the new layer in the place of its last one.
Status export_network(const TransferOptions& options, const TrainedNetwork& trained,
                      const ImageList& list, const Best& best) {
  const torch::NoGradGuard no_gradients;
  const auto classes = static_cast<std::uint32_t>(list.classes.size());
  const std::shared_ptr<Network> whole = trained.model->make({trained.shape, classes});
  const auto parameters = whole->named_parameters();
  const auto old_parameters = trained.network->named_parameters();
  for (std::size_t i = 0; i + 2 < parameters.size(); ++i) {
    parameters[i].value().copy_(old_parameters[i].value());
  }
  parameters[parameters.size() - 2].value().copy_(best.layer->weight);
  parameters[parameters.size() - 1].value().copy_(best.layer->bias);
  const auto buffers = whole->named_buffers();
  const auto old_buffers = trained.network->named_buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    buffers[i].value().copy_(old_buffers[i].value());
  }
  Status written =
      write_weights(options.export_file, *whole, {std::string(trained.model->name), list.classes});
  if (written) std::printf("weights %s\n", options.export_file.c_str());
  return written;
}

Status transfer_unguarded(const TransferOptions& options) {
  TS_TRY(const c10::Device device, choose_device(options.device, options.strict));
  if (options.threads > 0) at::set_num_threads(options.threads);
  TS_TRY(const ImageList list, list_images(options.folder));
  TS_TRY(const TrainedNetwork trained, load_trained(options.weights, options.model, device));
  trainscope::batch(static_cast<long long>(options.batch));

  const double begin_s = monotonic_s();
  trainscope::begin("bottlenecks");
  const Result<Bottlenecks> filled = make_bottlenecks(options, trained, list, device);
  const double filled_s = monotonic_s();
  trainscope::end("bottlenecks");
  if (!filled) return filled.error();
  const VectorSets sets = split_vectors(options, list, filled->vectors);
  std::printf("images %zu classes %zu training %" PRId64 " validation %" PRId64 " test %" PRId64
              "\n",
              list.images.size(), list.classes.size(), sets.training.count(),
              sets.validation.count(), sets.test.count());
  std::printf("bottlenecks computed %" PRIu64 " cached %" PRIu64 " seconds %.2f\n",
              filled->computed, filled->cached, filled_s - begin_s);
  if (sets.training.count() == 0) {
    return Error(options.folder + ": no image is left to train with");
  }

  const double train_s = monotonic_s();
  trainscope::begin("train");
  const auto classes = static_cast<std::int64_t>(list.classes.size());
  Best best = try_rates(options, sets, classes);
  trainscope::end("train");
  std::printf("train seconds %.2f\n", monotonic_s() - train_s);
  report_test(options, sets, list, best);
  if (options.export_file.empty()) return {};
  return export_network(options, trained, list, best);
}

}  // namespace

Status transfer(const TransferOptions& options) {
  return guarded([&] { return transfer_unguarded(options); });
}

}  // namespace trainscope::workload
