// What the ranks of one job take per step, and how far they are apart.
//
// In a job whose ranks synchronise every step, all steps take the same time: a fast rank waits for
// a slow one in collectives. Therefore ranks are compared by their own work, which is the step time
// less the time in communication. Where not all ranks reported communication, it is the step time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyze/support/observations.h"
#include "model/group_diagnosis.h"

namespace trainscope {

// Ranks that hold up all others: the first ones of RankComparison::ranks().
struct Stragglers {
  size_t count = 0;
  double lost = 0;      // of the step time, against ranks all as fast as the next one
  double strength = 0;  // from 0 to 1: how far this explains the job
};

class RankComparison : public Observations {
 public:
  struct Compared {
    const RankDiagnosis* rank = nullptr;
    double step_s = 0, own_s = 0;  // own: without communication
    double score = 0;              // distance from the median in scaled median deviations
    double communication_share() const { return step_s > 0 ? 1 - own_s / step_s : 0; }
  };

  // `ranks` must outlive this.
  explicit RankComparison(const std::vector<RankDiagnosis>& ranks);

  // Those that reported steps, the one with the most own work first.
  const std::vector<Compared>& ranks() const { return ranks_; }
  bool knows_communication() const { return knows_communication_; }
  // The longest step of any rank.
  double step_s() const { return step_s_; }
  // Of the own work.
  double median_s() const { return median_s_; }
  double mean_s() const { return mean_s_; }
  // Judged by two rules; of fewer than three ranks none is a straggler.
  Stragglers find_stragglers();
  // "rank 2 (run 6a3crw42f5, host n17): 95 ms per step; ", and its own verdict if that is known.
  static std::string evidence_of(const Compared& compared);

 private:
  std::vector<Compared> ranks_;
  bool knows_communication_ = false;
  double step_s_ = 0, median_s_ = 0, mean_s_ = 0;
};

// An outlier score above this makes a rank a straggler (XProf).
inline constexpr double kStragglerScore = 3.5;

}  // namespace trainscope
