// The training run: learns until a limit is reached, tests on held-out images after every epoch
// and at the end, keeps checkpoints.
//
// Guarantees: the limits are checked between steps; a time limit counts from the first step and
// includes evaluations and checkpoints on the way, not the loading before nor the last evaluation.
// With the same options, data and thread count the same steps are computed, whatever the number of
// loading threads.
// Limits: each step waits for its result, so that its duration is the real one.
#pragma once

#include <cstdint>
#include <memory>

#include "compute/image_tensor.h"
#include "data/dataset.h"
#include "data/loader.h"
#include "models/model.h"
#include "options.h"
#include "train/mixed_precision.h"
#include "train/optimizer.h"
#include "train/probed_input.h"
#include "train/step_graph.h"
#include "train/training_report.h"

namespace trainscope::workload {

// What a training consists of, ready to go.
struct TrainingParts {
  const Model& model;
  std::unique_ptr<StepGraph> graph;  // or none
  std::shared_ptr<Network> network;  // on the device
  torch::Device device;
  TrainingReport report;
};

class Training {
 public:
  // Options and data must live as long.
  Training(const TrainOptions& options, const Dataset& data, TrainingParts parts);

  Status run();

 private:
  bool finished() const;
  Status learn_until_finished();
  Status step();
  Status make_input_ready(StepPhases& phases);
  double learn(StepPhases& phases);
  torch::Tensor compute(const torch::Tensor& images, const torch::Tensor& labels,
                        StepPhases& phases);
  Status after_step();
  Result<Evaluation> evaluate();
  Status checkpoint();
  Status finish(double seconds);
  Status export_network();
  void log_placement(const torch::Tensor& images) const;

  const TrainOptions& options_;
  const Dataset& data_;
  TrainingParts parts_;
  Optimizer optimizer_;
  ImageTensors tensors_;
  LossScale scale_;
  std::unique_ptr<Loader> loader_;
  torch::Tensor images_, labels_;  // of the present step, on the device
  ProbedInput probed_;

  std::uint64_t steps_ = 0;
  double deadline_s_ = 0.0;
  double next_evaluation_s_ = 0.0;
  double next_checkpoint_s_ = 0.0;
  Evaluation last_;
  std::uint64_t evaluated_at_ = 0;
  bool placement_logged_ = false;
};

}  // namespace trainscope::workload
