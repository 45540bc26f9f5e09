#include "train/training.h"

#include <torch/nn/functional/loss.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <thread>

#include "compute/placement.h"
#include "monotonic_clock.h"
#include "train/checkpoint.h"
#include "weights/torchscript.h"
#include "weights/weights.h"

namespace trainscope::workload {
namespace {

namespace F = torch::nn::functional;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kAuxiliaryShare = 0.4;  // of the auxiliary loss, as Inception v3 was trained
constexpr std::size_t kEvaluationBatch = 500;
constexpr std::size_t kEvaluationBytes = std::size_t{4} << 20;

// Many small images at a time, or few large ones.
std::size_t evaluation_batch(const ImageShape& shape) {
  return std::clamp<std::size_t>(kEvaluationBytes / shape.bytes(), 1, kEvaluationBatch);
}

unsigned loader_threads(const TrainOptions& options, const Samples& samples) {
  if (options.loaders) return *options.loaders;
  return samples.worth_threads() ? std::max(1U, std::thread::hardware_concurrency() / 2) : 0;
}

LoaderOptions loader_options(const TrainOptions& options, const Samples& samples) {
  LoaderOptions loading;
  loading.batch = options.batch;
  loading.threads = loader_threads(options, samples);
  loading.prefetch = options.prefetch;
  loading.seed = options.seed;
  return loading;
}

void sleep_s(double seconds) {
  if (seconds > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

torch::Tensor loss_of(const Scores& scores, const torch::Tensor& labels) {
  torch::Tensor loss = F::cross_entropy(scores.main.to(torch::kFloat), labels);
  if (!scores.auxiliary.defined()) return loss;
  return loss + kAuxiliaryShare * F::cross_entropy(scores.auxiliary.to(torch::kFloat), labels);
}

}  // namespace

Training::Training(const TrainOptions& options, const Dataset& data, TrainingParts parts)
    : options_(options),
      data_(data),
      parts_(std::move(parts)),
      optimizer_(options.optimizer, options.learning_rate, *parts_.network),
      tensors_(data.train->shape(), parts_.model.normalisation, parts_.device,
               options.channels_last),
      scale_(parts_.device, options.precision) {}

Status Training::run() {
  if (options_.resume) {
    TS_TRY(steps_, load_checkpoint(options_, *parts_.network, optimizer_));
    std::printf("resume step %" PRIu64 " from %s\n", steps_, options_.checkpoint.c_str());
  }
  LoaderOptions loading = loader_options(options_, *data_.train);
  loading.first = steps_;
  loader_ = std::make_unique<Loader>(*data_.train, loading);
  const double begin_s = monotonic_s();
  deadline_s_ = begin_s + options_.seconds.value_or(kNever);
  next_evaluation_s_ = begin_s + options_.evaluations_s.value_or(kNever);
  next_checkpoint_s_ = options_.checkpoint.empty() ? kNever : begin_s + options_.checkpoints_s;
  TS_CHECK_OK(learn_until_finished());
  const double seconds = monotonic_s() - begin_s;
  loader_.reset();  // its threads would work on while the end is evaluated
  return finish(seconds);
}

bool Training::finished() const {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  return steps_ / loader_->batches_a_pass() >= options_.epochs.value_or(kNone) ||
         steps_ >= options_.steps.value_or(kNone) || monotonic_s() >= deadline_s_;
}

Status Training::learn_until_finished() {
  parts_.network->train();
  while (!finished()) {
    TS_CHECK_OK(step());
    TS_CHECK_OK(after_step());
  }
  return {};
}

Status Training::step() {
  StepRecord record;
  record.number = steps_ + 1;
  record.begin_s = monotonic_s();
  StepPhases phases(record.begin_s);
  if (!probed_.is_replaced()) sleep_s(options_.input.before_step(record.number));
  TS_CHECK_OK(make_input_ready(phases));
  record.images = static_cast<std::uint64_t>(labels_.size(0));
  record.loss = learn(phases);
  record.duration_s = monotonic_s() - record.begin_s;
  ++steps_;
  parts_.report.step(record);
  probed_.end_step(monotonic_s(), record.duration_s);
  return {};
}

Status Training::make_input_ready(StepPhases& phases) {
  // The last batch of a pass may be smaller, and so faster.
  const bool is_whole =
      images_.defined() && images_.size(0) == static_cast<int64_t>(options_.batch);
  if ((options_.resident && images_.defined()) || (probed_.is_replaced() && is_whole)) {
    phases.end("input");
    return {};
  }
  TS_TRY(const Batch batch, loader_->next());
  probed_.note_wait(phases.end("input"));
  images_ = tensors_.images(batch);
  labels_ = tensors_.labels(batch);
  phases.end("prepare");
  return {};
}

double Training::learn(StepPhases& phases) {
  const auto step = [&](const torch::Tensor& images, const torch::Tensor& labels) {
    return compute(images, labels, phases);
  };
  const torch::Tensor loss =
      parts_.graph ? parts_.graph->run(images_, labels_, step) : step(images_, labels_);
  const double value = loss.item<double>();  // waits for the device
  if (parts_.device.is_cpu()) phases.end("optimizer");
  if (options_.log_placement && !placement_logged_) log_placement(images_);
  placement_logged_ = true;
  return value;
}

// The loss, on the device; nothing here waits for it. A CUDA device computes in the background:
// where one phase ends there only a wait could show.
torch::Tensor Training::compute(const torch::Tensor& images, const torch::Tensor& labels,
                                StepPhases& phases) {
  const bool has_phases = parts_.device.is_cpu();
  optimizer_.zero_grad();
  torch::Tensor loss;
  {
    const Autocast autocast(parts_.device, options_.precision);
    loss = loss_of(parts_.network->forward(images), labels);
  }
  if (has_phases) phases.end("forward");
  scale_.scaled(loss).backward();
  if (has_phases) phases.end("backward");
  optimizer_.step(scale_.unscale(optimizer_));
  return loss.detach();
}

// What is due between two steps: the end of a pass, an evaluation, a checkpoint.
Status Training::after_step() {
  const std::uint64_t a_pass = loader_->batches_a_pass();
  const bool pass_ends = steps_ % a_pass == 0;
  if (pass_ends) parts_.report.epoch_ends(steps_ / a_pass);
  const double now_s = monotonic_s();
  if ((pass_ends || now_s >= next_evaluation_s_) && !finished()) {
    TS_CHECK_OK(evaluate());
    next_evaluation_s_ = monotonic_s() + options_.evaluations_s.value_or(kNever);
  }
  if (now_s < next_checkpoint_s_) return {};
  next_checkpoint_s_ = monotonic_s() + options_.checkpoints_s;
  return checkpoint();
}

Status Training::checkpoint() {
  parts_.report.checkpoint_begins();
  Status saved = save_checkpoint(options_, *parts_.network, optimizer_, steps_);
  parts_.report.checkpoint_ends();
  if (saved) {
    std::printf("checkpoint step %" PRIu64 " %s\n", steps_, options_.checkpoint.c_str());
    std::fflush(stdout);
  }
  return saved;
}

Result<Evaluation> Training::evaluate() {
  const torch::NoGradGuard no_gradients;
  const Samples& samples = *data_.test;
  parts_.report.evaluation_begins();
  parts_.network->eval();
  LoaderOptions loading = loader_options(options_, samples);
  loading.batch = evaluation_batch(samples.shape());
  loading.shuffle = false;
  loading.last = (samples.count() + loading.batch - 1) / loading.batch;
  Loader loader(samples, loading);
  double loss_sum = 0.0;
  std::int64_t right = 0;
  for (std::uint64_t i = 0; i < loading.last; ++i) {
    TS_TRY(const Batch batch, loader.next());
    const torch::Tensor labels = tensors_.labels(batch);
    const Autocast autocast(parts_.device, options_.precision);
    const torch::Tensor scores =
        parts_.network->forward(tensors_.images(batch)).main.to(torch::kFloat);
    const auto sum = F::CrossEntropyFuncOptions().reduction(torch::kSum);
    loss_sum += F::cross_entropy(scores, labels, sum).item<double>();
    right += scores.argmax(1).eq(labels).sum().item<std::int64_t>();
  }
  parts_.network->train();
  const auto count = static_cast<double>(samples.count());
  last_ = {static_cast<double>(right) / count, loss_sum / count};
  evaluated_at_ = steps_;
  parts_.report.evaluation_ends(steps_, last_);
  return last_;
}

Status Training::finish(double seconds) {
  if (evaluated_at_ != steps_ || steps_ == 0) {
    TS_CHECK_OK(evaluate());
  }
  if (!options_.checkpoint.empty()) {
    TS_CHECK_OK(checkpoint());
  }
  if (!options_.export_file.empty()) {
    TS_CHECK_OK(export_network());
  }
  return parts_.report.done(steps_, seconds, last_.accuracy);
}

Status Training::export_network() {
  const std::string& file = options_.export_file;
  const bool as_program = file.ends_with(".pt");
  const ImageShape shape = data_.train->shape();
  parts_.network->to(torch::kCPU);  // a file that any machine can load
  const WeightsNote note{options_.model, data_.class_names};
  Status written =
      as_program
          ? write_torchscript(file, *parts_.network,
                              torch::zeros({1, shape.channels, shape.rows, shape.columns}), note)
          : write_weights(file, *parts_.network, note);
  if (written) std::printf("%s %s\n", as_program ? "torchscript" : "weights", file.c_str());
  return written;
}

void Training::log_placement(const torch::Tensor& images) const {
  print_placement("input", images);
  for (const auto& item : parts_.network->named_parameters()) {
    print_placement(item.key(), item.value());
  }
  for (const auto& item : parts_.network->named_buffers()) {
    print_placement(item.key(), item.value());
  }
}

}  // namespace trainscope::workload
