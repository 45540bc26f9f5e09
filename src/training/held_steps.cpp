#include "training/held_steps.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <mutex>

#include "training/training_series.h"

namespace trainscope {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::optional<double> known(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

float short_of(const std::optional<double>& value) {
  return static_cast<float>(value.value_or(kUnknown));
}

template <typename Item>
class UnknownItems : public Reader<Item> {
 public:
  Result<bool> next(Item& /*item*/) override {
    return Error("only the steps of a run that is followed are known");
  }
};

class ResultReader : public Reader<TrainingNumber> {
 public:
  explicit ResultReader(std::shared_ptr<const HeldResults> held) : held_(std::move(held)) {}

  Result<bool> next(TrainingNumber& number) override {
    if (held_ == nullptr || at_ == held_->numbers().size()) return false;
    number = held_->numbers()[at_++];
    return true;
  }

 private:
  std::shared_ptr<const HeldResults> held_;
  size_t at_ = 0;
};

class StepsOnly : public TrainingDetails {
 public:
  StepsOnly(Held held, std::vector<Step> last, std::array<bool, kMaxWarmup> is_warmup)
      : held_(std::move(held.steps)),
        results_(std::move(held.results)),
        count_(held_ ? held_->size() : 0),
        last_(std::move(last)),
        is_warmup_(is_warmup) {}

  std::unique_ptr<Reader<Step>> steps() const override {
    return std::make_unique<StepReader>(*this, 0);
  }
  std::unique_ptr<Reader<Step>> steps_from(double time_s) const override {
    const size_t before = held_ ? held_->count_before(time_s) : 0;
    return std::make_unique<StepReader>(*this, std::min(before, count_));
  }
  std::unique_ptr<Reader<TrainingPhase>> phases() const override {
    return std::make_unique<UnknownItems<TrainingPhase>>();
  }
  std::unique_ptr<Reader<TrainingNumber>> numbers() const override {
    return std::make_unique<UnknownItems<TrainingNumber>>();
  }
  std::unique_ptr<Reader<TrainingNumber>> results() const override {
    return std::make_unique<ResultReader>(results_);
  }

 private:
  class StepReader : public Reader<Step> {
   public:
    StepReader(const StepsOnly& all, size_t first) : all_(all), at_(first) {}

    Result<bool> next(Step& step) override {
      if (at_ == all_.count_ + all_.last_.size()) return false;
      if (at_ < all_.count_) {
        all_.held_->read(at_, step);
      } else {
        step = all_.last_[at_ - all_.count_];
      }
      if (at_ < kMaxWarmup && all_.is_warmup_[at_]) step.kind = "warmup";
      ++at_;
      return true;
    }

   private:
    const StepsOnly& all_;
    size_t at_;
  };

  std::shared_ptr<const HeldSteps> held_;
  std::shared_ptr<const HeldResults> results_;
  size_t count_;  // of those that were held when this was made
  std::vector<Step> last_;
  std::array<bool, kMaxWarmup> is_warmup_;
};

}  // namespace

void HeldSteps::add(const Step& step, bool has_waits) {
  const std::unique_lock lock(mutex_);
  steps_.push_back({step.time_s, step.mean_s().value_or(kUnknown),
                    step.input_wait_s.value_or(kUnknown), step.step, step.covers,
                    step.duration_s.has_value(), short_of(step.loss), short_of(step.accuracy),
                    short_of(step.throughput)});
  if (has_waits) longest_waits_.emplace_back(step.longest_wait_from_s, step.longest_wait_to_s);
}

size_t HeldSteps::size() const {
  const std::shared_lock lock(mutex_);
  return steps_.size();
}

void HeldSteps::read(size_t at, Step& step) const {
  const std::shared_lock lock(mutex_);
  const HeldStep& held = steps_[at];
  step = {};
  step.step = held.step;
  step.time_s = held.time_s;
  step.covers = held.covers;
  (held.has_own_time ? step.duration_s : step.average_s) = known(held.mean_s);
  step.input_wait_s = known(held.input_wait_s);
  step.loss = known(held.loss);
  step.accuracy = known(held.accuracy);
  step.throughput = known(held.throughput);
  if (longest_waits_.empty()) return;
  step.longest_wait_from_s = longest_waits_[at].first;
  step.longest_wait_to_s = longest_waits_[at].second;
}

size_t HeldSteps::count_before(double time_s) const {
  const std::shared_lock lock(mutex_);
  const auto first =
      std::lower_bound(steps_.begin(), steps_.end(), time_s,
                       [](const HeldStep& step, double time) { return step.time_s < time; });
  return static_cast<size_t>(first - steps_.begin());
}

std::optional<int64_t> HeldSteps::last_at(double time_s) const {
  const std::shared_lock lock(mutex_);
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), time_s,
                       [](double time, const HeldStep& step) { return time < step.time_s; });
  return after == steps_.begin() ? std::nullopt : std::optional(std::prev(after)->step);
}

void HeldResults::add(TrainingNumber number) {
  if (!metric_of_number(number.name)) return;
  const bool is_later = numbers_.empty() || numbers_.back().time_s <= number.time_s;
  is_in_order_ = is_in_order_ && is_later;
  numbers_.push_back(std::move(number));
  // Sorting now and then, not for each, costs as much as sorting all of them once.
  if (numbers_.size() >= 2 * kMost) settle();
}

void HeldResults::settle() {
  if (!is_in_order_) {
    std::stable_sort(
        numbers_.begin(), numbers_.end(),
        [](const TrainingNumber& a, const TrainingNumber& b) { return a.time_s < b.time_s; });
    is_in_order_ = true;
  }
  while (numbers_.size() > kMost) numbers_.pop_front();
}

std::shared_ptr<const TrainingDetails> held_details(Held held, std::vector<Step> last,
                                                    const Survey& survey) {
  return std::make_shared<StepsOnly>(std::move(held), std::move(last), survey.is_warmup);
}

std::shared_ptr<const TrainingDetails> listed_details(std::vector<Step> steps) {
  return std::make_shared<StepsOnly>(Held{}, std::move(steps), std::array<bool, kMaxWarmup>{});
}

}  // namespace trainscope
