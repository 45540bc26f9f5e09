#include "train/training_report.h"

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "errors.h"
#include "monotonic_clock.h"

namespace trainscope::workload {
namespace {

// printf writes a NaN of either sign, "nan" or "-nan"; readers get one spelling.
double one_nan(double value) { return std::isnan(value) ? std::fabs(value) : value; }

}  // namespace

Result<TrainingReport> TrainingReport::open(const TrainOptions& options, const char* pipe_path) {
  const std::string& step_log = options.step_log;
  TrainingReport report(options.summaries);
  report.every_ = options.every;
  report.pipe_ = std::make_unique<ProgressPipe>(pipe_path);
  if (!step_log.empty()) {
    report.step_log_name_ = step_log;
    report.step_log_.reset(std::fopen(step_log.c_str(), "we"));
    if (!report.step_log_) {
      return Error(step_log + ": cannot write: " + std::strerror(errno));
    }
  }
  return report;
}

void TrainingReport::step(const StepRecord& record) {
  send_step(record);
  if (step_log_) {
    std::fprintf(step_log_.get(), "%" PRIu64 " %.9f %.9f\n", record.number, record.begin_s,
                 record.duration_s);
    if (std::fflush(step_log_.get()) != 0) step_log_broken_ = true;
  }
  summaries_.scalar("train", "loss", record.number, record.loss);
  loss_sum_ += record.loss;
  epoch_loss_sum_ += record.loss;
  ++epoch_steps_;
  busy_s_ += record.duration_s;
  images_ += record.images;
  if (record.number % every_ != 0) return;
  const double images_per_s = busy_s_ > 0.0 ? static_cast<double>(images_) / busy_s_ : 0.0;
  std::printf("step %" PRIu64 " loss %.4f images/s %.*f\n", record.number,
              one_nan(loss_sum_ / static_cast<double>(every_)), images_per_s < 100.0 ? 1 : 0,
              images_per_s);
  std::fflush(stdout);
  loss_sum_ = 0.0;
  busy_s_ = 0.0;
  images_ = 0;
}

void TrainingReport::send_step(const StepRecord& record) {
  if (!pipe_->is_open()) return;
  if (record.images != batch_told_) pipe_->batch(record.images);
  batch_told_ = record.images;
  double at_s = record.begin_s;
  const auto send = [&](std::string_view name, double duration_s) {
    at_s += duration_s;
    pipe_->phase(name, duration_s, at_s);
  };
  send("input", record.input_s);
  if (record.prepare_s > 0.0) send("prepare", record.prepare_s);
  if (record.compute) {
    send("forward", record.compute->forward_s);
    send("backward", record.compute->backward_s);
    send("optimizer", record.compute->optimizer_s);
  }
  pipe_->step(record.number, one_nan(record.loss), record.begin_s + record.duration_s);
}

void TrainingReport::epoch_ends(std::uint64_t number) {
  const double steps = static_cast<double>(epoch_steps_);
  pipe_->epoch(number, one_nan(epoch_loss_sum_ / steps), monotonic_s());
  epoch_loss_sum_ = 0.0;
  epoch_steps_ = 0;
}

void TrainingReport::checkpoint_begins() { pipe_->begin("checkpoint", monotonic_s()); }

void TrainingReport::checkpoint_ends() { pipe_->end("checkpoint", monotonic_s()); }

void TrainingReport::evaluation_begins() { pipe_->begin("evaluation", monotonic_s()); }

void TrainingReport::evaluation_ends(std::uint64_t step, const Evaluation& result) {
  const double now_s = monotonic_s();
  pipe_->end("evaluation", now_s);
  pipe_->scalar("accuracy", result.accuracy, "test", now_s);
  pipe_->scalar("loss", one_nan(result.loss), "test", now_s);
  summaries_.scalar("test", "accuracy", step, result.accuracy);
  summaries_.scalar("test", "loss", step, result.loss);
  std::printf("eval step %" PRIu64 " accuracy %.4f loss %.4f\n", step, result.accuracy,
              one_nan(result.loss));
  std::fflush(stdout);
}

Status TrainingReport::done(std::uint64_t steps, double seconds, double accuracy) {
  std::printf("done steps %" PRIu64 " seconds %.1f accuracy %.4f\n", steps, seconds, accuracy);
  std::fflush(stdout);
  if (pipe_->dropped() > 0) {
    std::fprintf(stderr, "trainscope-workload: %" PRIu64 " progress messages dropped\n",
                 pipe_->dropped());
  }
  if (step_log_broken_) return run_failure(step_log_name_ + ": not all steps written");
  return summaries_.state();
}

}  // namespace trainscope::workload
