#include "train/training_report.h"

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "errors.h"
#include "monotonic_clock.h"
#include "trainscope.hpp"

namespace trainscope::workload {
namespace {

// printf writes a NaN of either sign, "nan" or "-nan"; readers get one spelling.
double one_nan(double value) { return std::isnan(value) ? std::fabs(value) : value; }

}  // namespace

double StepPhases::end(std::string_view phase) {
  const double now_s = monotonic_s();
  const double took_s = now_s - begin_s_;
  trainscope::phase(phase, std::chrono::duration<double>(took_s));
  begin_s_ = now_s;
  return took_s;
}

Result<TrainingReport> TrainingReport::open(const TrainOptions& options) {
  const std::string& step_log = options.step_log;
  TrainingReport report(options.summaries);
  report.every_ = options.every;
  report.set_batch(options.batch);
  if (!step_log.empty()) {
    report.step_log_name_ = step_log;
    report.step_log_.reset(std::fopen(step_log.c_str(), "we"));
    if (!report.step_log_) {
      return Error(step_log + ": cannot write: " + std::strerror(errno));
    }
  }
  return report;
}

// The last batch of a pass may be smaller.
void TrainingReport::set_batch(std::uint64_t images) {
  if (images != batch_) trainscope::batch(static_cast<long long>(images));
  batch_ = images;
}

void TrainingReport::step(const StepRecord& record) {
  set_batch(record.images);
  trainscope::step(static_cast<long long>(record.number), {{"loss", record.loss}});
  if (step_log_) {
    std::fprintf(step_log_.get(), "%" PRIu64 " %.9f %.9f\n", record.number, record.begin_s,
                 record.duration_s);
    if (std::fflush(step_log_.get()) != 0) step_log_broken_ = true;
  }
  summaries_.scalar("train", "loss", record.number, record.loss);
  loss_sum_ += record.loss;
  ++steps_;
  epoch_loss_sum_ += record.loss;
  ++epoch_steps_;
  busy_s_ += record.duration_s;
  images_ += record.images;
  if (record.number % every_ != 0) return;
  const double images_per_s = busy_s_ > 0.0 ? static_cast<double>(images_) / busy_s_ : 0.0;
  std::printf("step %" PRIu64 " loss %.4f images/s %.*f\n", record.number,
              one_nan(loss_sum_ / static_cast<double>(steps_)), images_per_s < 100.0 ? 1 : 0,
              images_per_s);
  std::fflush(stdout);
  loss_sum_ = 0.0;
  steps_ = 0;
  busy_s_ = 0.0;
  images_ = 0;
}

void TrainingReport::epoch_ends(std::uint64_t number) {
  const double steps = static_cast<double>(epoch_steps_);
  trainscope::epoch(static_cast<long long>(number), {{"loss", epoch_loss_sum_ / steps}});
  epoch_loss_sum_ = 0.0;
  epoch_steps_ = 0;
}

void TrainingReport::checkpoint_begins() { trainscope::begin("checkpoint"); }

void TrainingReport::checkpoint_ends() { trainscope::end("checkpoint"); }

void TrainingReport::evaluation_begins() { trainscope::begin("evaluation"); }

void TrainingReport::evaluation_ends(std::uint64_t step, const Evaluation& result) {
  trainscope::end("evaluation");
  trainscope::scalar("accuracy", result.accuracy, trainscope::Set::test);
  trainscope::scalar("loss", result.loss, trainscope::Set::test);
  summaries_.scalar("test", "accuracy", step, result.accuracy);
  summaries_.scalar("test", "loss", step, result.loss);
  std::printf("eval step %" PRIu64 " accuracy %.4f loss %.4f\n", step, result.accuracy,
              one_nan(result.loss));
  std::fflush(stdout);
}

Status TrainingReport::done(std::uint64_t steps, double seconds, double accuracy) {
  std::printf("done steps %" PRIu64 " seconds %.1f accuracy %.4f\n", steps, seconds, accuracy);
  std::fflush(stdout);
  if (step_log_broken_) return run_failure(step_log_name_ + ": not all steps written");
  return summaries_.state();
}

}  // namespace trainscope::workload
