#include "train.h"

#include <ATen/Parallel.h>
#include <torch/nn/functional/loss.h>
#include <torch/optim/adam.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "device.h"
#include "model.h"
#include "monotonic_clock.h"
#include "training_report.h"

namespace trainscope::workload {
namespace {

namespace F = torch::nn::functional;

constexpr std::int64_t kEvaluationBatch = 500;

// A set of pictures on the device, as bytes; floats are made a batch at a time.
class DeviceSet {
 public:
  DeviceSet(const ImageSet& set, const torch::Device& device)
      : count_(static_cast<std::int64_t>(set.count())),
        pixels_(bytes(set.pixels, {count_, 1, set.rows, set.columns}).to(device)),
        labels_(bytes(set.labels, {count_}).to(device, torch::kLong)) {}

  std::int64_t count() const { return count_; }

  torch::Tensor pictures(const torch::Tensor& order) const {
    return floats(pixels_.index_select(0, order));
  }
  torch::Tensor labels(const torch::Tensor& order) const { return labels_.index_select(0, order); }
  torch::Tensor pictures(std::int64_t from, std::int64_t to) const {
    return floats(pixels_.slice(0, from, to));
  }
  torch::Tensor labels(std::int64_t from, std::int64_t to) const {
    return labels_.slice(0, from, to);
  }

 private:
  // from_blob wants a mutable pointer; the copy makes sure that nothing writes through it.
  static torch::Tensor bytes(const std::vector<std::uint8_t>& data,
                             const std::vector<std::int64_t>& shape) {
    return torch::from_blob(const_cast<std::uint8_t*>(data.data()), shape, torch::kByte).clone();
  }
  static torch::Tensor floats(const torch::Tensor& pixels) {
    return pixels.to(torch::kFloat).mul_(1.0 / 127.5).sub_(1.0);
  }

  std::int64_t count_;
  torch::Tensor pixels_;
  torch::Tensor labels_;
};

class Training {
 public:
  Training(const TrainOptions& options, const Dataset& data, torch::nn::Sequential model,
           const torch::Device& device, TrainingReport report)
      : options_(options),
        device_(device),
        train_(data.train, device),
        test_(data.test, device),
        model_(std::move(model)),
        optimizer_(model_->parameters(), torch::optim::AdamOptions(options.learning_rate)),
        report_(std::move(report)) {}

  Status run() {
    const double begin_s = monotonic_s();
    deadline_s_ = begin_s + options_.seconds.value_or(std::numeric_limits<double>::infinity());
    Evaluation last;
    std::uint64_t evaluated_at = 0;
    for (std::uint64_t epoch = 1; !finished(epoch); ++epoch) {
      run_epoch(epoch);
      if (finished(epoch + 1)) break;
      last = evaluate();
      evaluated_at = steps_;
    }
    const double seconds = monotonic_s() - begin_s;
    if (evaluated_at != steps_ || steps_ == 0) last = evaluate();
    return report_.done(steps_, seconds, last.accuracy);
  }

 private:
  bool finished(std::uint64_t epoch) const {
    return epoch > options_.epochs.value_or(std::numeric_limits<std::uint64_t>::max()) ||
           steps_ >= options_.steps.value_or(std::numeric_limits<std::uint64_t>::max()) ||
           monotonic_s() >= deadline_s_;
  }

  void run_epoch(std::uint64_t epoch) {
    model_->train();
    const torch::Tensor order = torch::randperm(train_.count(), torch::kLong).to(device_);
    const auto batch = static_cast<std::int64_t>(options_.batch);
    for (std::int64_t from = 0; from < train_.count() && !finished(epoch); from += batch) {
      const std::int64_t to = std::min(from + batch, train_.count());
      StepRecord record;
      record.number = ++steps_;
      record.images = static_cast<std::uint64_t>(to - from);
      record.begin_s = monotonic_s();
      record.loss = learn(order.slice(0, from, to));
      record.duration_s = monotonic_s() - record.begin_s;
      report_.step(record);
    }
  }

  double learn(const torch::Tensor& order) {
    optimizer_.zero_grad();
    const torch::Tensor scores = model_->forward(train_.pictures(order));
    const torch::Tensor loss = F::cross_entropy(scores, train_.labels(order));
    loss.backward();
    optimizer_.step();
    return loss.item<double>();  // waits for the device
  }

  Evaluation evaluate() {
    const torch::NoGradGuard no_gradients;
    report_.evaluation_begins();
    model_->eval();
    double loss_sum = 0.0;
    std::int64_t right = 0;
    for (std::int64_t from = 0; from < test_.count(); from += kEvaluationBatch) {
      const std::int64_t to = std::min(from + kEvaluationBatch, test_.count());
      const torch::Tensor scores = model_->forward(test_.pictures(from, to));
      const torch::Tensor labels = test_.labels(from, to);
      const auto sum = F::CrossEntropyFuncOptions().reduction(torch::kSum);
      loss_sum += F::cross_entropy(scores, labels, sum).item<double>();
      right += scores.argmax(1).eq(labels).sum().item<std::int64_t>();
    }
    const auto count = static_cast<double>(test_.count());
    const Evaluation result{static_cast<double>(right) / count, loss_sum / count};
    report_.evaluation_ends(steps_, result);
    return result;
  }

  const TrainOptions& options_;
  torch::Device device_;
  DeviceSet train_;
  DeviceSet test_;
  torch::nn::Sequential model_;
  torch::optim::Adam optimizer_;
  TrainingReport report_;
  double deadline_s_ = 0.0;
  std::uint64_t steps_ = 0;
};

std::int64_t count_parameters(const torch::nn::Sequential& model) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : model->parameters()) count += parameter.numel();
  return count;
}

void print_setting(const TrainOptions& options, const Dataset& data, std::int64_t parameters,
                   const torch::Device& device) {
  std::printf("data %s train %zu test %zu from %s\n", data.name.c_str(), data.train.count(),
              data.test.count(), data.origin.c_str());
  std::printf("model %s parameters %lld batch %llu seed %llu\n", options.model.c_str(),
              static_cast<long long>(parameters), static_cast<unsigned long long>(options.batch),
              static_cast<unsigned long long>(options.seed));
  std::printf("device %s threads %d\n", device.str().c_str(), at::get_num_threads());
  std::fflush(stdout);
}

Status train_unguarded(const TrainOptions& options, const Dataset& data, const char* pipe_path) {
  Result<c10::Device> device = choose_device(options.device, options.strict);
  if (!device.ok()) return device.error();
  if (options.threads > 0) at::set_num_threads(options.threads);
  torch::manual_seed(options.seed);
  Result<torch::nn::Sequential> model =
      make_model(options.model, {data.train.rows, data.train.columns, data.classes});
  if (!model.ok()) return model.error();
  model.value()->to(device.value());
  Result<TrainingReport> report = TrainingReport::open(options.every, options.step_log, pipe_path);
  if (!report.ok()) return report.error();
  print_setting(options, data, count_parameters(model.value()), device.value());
  Training training(options, data, model.value(), device.value(), std::move(report.value()));
  return training.run();
}

}  // namespace

Status train(const TrainOptions& options, const Dataset& data, const char* pipe_path) {
  try {
    return train_unguarded(options, data, pipe_path);
  } catch (const c10::Error& error) {
    return Error{Fault::kFailed, error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return Error{Fault::kFailed, error.what()};
  }
}

}  // namespace trainscope::workload
