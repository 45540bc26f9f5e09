// Everything a training run tells while it goes: lines on stdout, the step log, the progress pipe.
//
// Guarantees: stdout lines keep their form (scripts parse them) and each is flushed at once; the
// step log has one line for every step, on disk before the next one begins.
// Limits: images/s counts time inside steps only; evaluation is not in it. A printed loss is the
// mean since the last printed line; the pipe gets each step's own.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "options.h"
#include "train/progress_pipe.h"
#include "train/summaries.h"

namespace trainscope::workload {

struct ComputeTimes {
  double forward_s = 0.0;
  double backward_s = 0.0;
  double optimizer_s = 0.0;
};

struct StepRecord {
  std::uint64_t number = 0;  // from 1
  std::uint64_t images = 0;
  double loss = 0.0;
  double begin_s = 0.0;
  double duration_s = 0.0;
  double input_s = 0.0;                 // at its beginning: waiting for the batch
  double prepare_s = 0.0;               // then: to floats, normalised, laid out, to the device
  std::optional<ComputeTimes> compute;  // none where asking would cost speed (CUDA)
};

struct Evaluation {
  double accuracy = 0.0;
  double loss = 0.0;
};

class TrainingReport {
 public:
  // `pipe_path` may be empty. Fails where the step log cannot be written.
  static Result<TrainingReport> open(const TrainOptions& options, const char* pipe_path);

  void step(const StepRecord& record);
  void epoch_ends(std::uint64_t number);
  void checkpoint_begins();
  void checkpoint_ends();
  void evaluation_begins();
  void evaluation_ends(std::uint64_t step, const Evaluation& result);

  // For whoever tells more than this does; never null.
  ProgressPipe* pipe() { return pipe_.get(); }

  // The last line; fails where the step log or the summaries are not whole (disk full).
  Status done(std::uint64_t steps, double seconds, double accuracy);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  explicit TrainingReport(const std::string& summaries) : summaries_(summaries) {}
  void send_step(const StepRecord& record);

  std::uint64_t every_ = 1;
  std::unique_ptr<std::FILE, CloseFile> step_log_;
  std::string step_log_name_;
  bool step_log_broken_ = false;
  std::unique_ptr<ProgressPipe> pipe_;
  Summaries summaries_;

  std::uint64_t batch_told_ = 0;

  // Since the epoch began.
  double epoch_loss_sum_ = 0.0;
  std::uint64_t epoch_steps_ = 0;

  // Since the last printed line.
  double loss_sum_ = 0.0;
  double busy_s_ = 0.0;
  std::uint64_t images_ = 0;
};

}  // namespace trainscope::workload
