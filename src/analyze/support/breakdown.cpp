#include "analyze/support/breakdown.h"

#include <algorithm>
#include <string>

namespace trainscope {

namespace {

class Division {
 public:
  explicit Division(double whole_s) : whole_s_(whole_s), left_s_(whole_s) {}

  // At most what is left.
  void take(const char* part, double seconds) {
    const double taken_s = std::clamp(seconds, 0.0, left_s_);
    if (!(taken_s > 0)) return;
    left_s_ -= taken_s;
    const auto known = std::find_if(parts_.begin(), parts_.end(),
                                    [&](const BreakdownPart& each) { return each.part == part; });
    BreakdownPart& sum =
        known == parts_.end() ? parts_.emplace_back(BreakdownPart{part, 0, 0}) : *known;
    sum.time_s += taken_s;
    sum.share = sum.time_s / whole_s_;
  }
  double left_s() const { return left_s_; }
  std::vector<BreakdownPart> parts() { return std::move(parts_); }

 private:
  double whole_s_, left_s_;
  std::vector<BreakdownPart> parts_;
};

// The share of time in which a thread of the job that does the steps runs, or waits for a core.
double host_share(const Evidence& evidence) {
  const auto main = evidence.mean(Signal::main_running);
  const auto other = evidence.mean(Signal::other_running);
  if (!main && !other) return evidence.mean(Signal::job_cores).value_or(0);
  const double waits = evidence.mean(Signal::main_runnable).value_or(0);
  const double first = main.value_or(0) + waits, second = other.value_or(0);
  // PyTorch launches the backward pass from another thread while the main thread waits for it.
  return evidence.uses_gpu() ? first + second : std::max(first, second);
}

// What the main thread waited for or did, if a rule knows, and the job does not report it.
void take_verdict(const Evidence& evidence, const Judged& verdict, Division& division) {
  const Judgement& judgement = verdict.judgement;
  const double seconds = judgement.lost.value_or(judgement.share) * evidence.training_s();
  const bool reports_saves = evidence.share("checkpoint").has_value();
  if (verdict.verdict == "checkpoint_bound" && !reports_saves) division.take("checkpoint", seconds);
  if (evidence.knows_input()) return;
  if (verdict.verdict == "input_bound") division.take("input wait", seconds);
}

}  // namespace

std::vector<BreakdownPart> break_down(const Evidence& evidence, const Judged* verdict) {
  const ReportedTime& reported = evidence.reported();
  const double judged_s = evidence.training_s();
  const double first_s = std::max(0.0, evidence.windows().begin_s - reported.first_step_s());
  Division division(judged_s + first_s);
  division.take("start-up", first_s + reported.warmup_s());
  division.take("input wait", evidence.lost_input().value_or(0) * judged_s);
  for (const char* const part : {"transfer", "communication", "checkpoint", "evaluation"}) {
    division.take(part, evidence.share(part).value_or(0) * judged_s);
  }
  division.take("device compute", evidence.device_share().value_or(0) * judged_s);
  // What costs time may keep the thread busy: opening files, making what is saved.
  const bool is_time = verdict != nullptr && verdict->judgement.lost.has_value();
  if (is_time) take_verdict(evidence, *verdict, division);
  division.take("host work", host_share(evidence) * judged_s);
  if (verdict != nullptr && !is_time) take_verdict(evidence, *verdict, division);
  const bool is_idle = verdict != nullptr && verdict->verdict == "idle" && !evidence.knows_input();
  if (is_idle) division.take("idle", division.left_s());
  division.take("unexplained", division.left_s());
  return division.parts();
}

}  // namespace trainscope
