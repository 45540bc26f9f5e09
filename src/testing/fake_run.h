// For tests: a run whose series are given as lists of numbers.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"
#include "model/training.h"

namespace trainscope {

// Steps that are written down; no other details.
class ListedSteps : public TrainingDetails {
 public:
  explicit ListedSteps(std::vector<Step> steps) : steps_(std::move(steps)) {}
  std::unique_ptr<Reader<Step>> steps() const override {
    return std::make_unique<ListReader<Step>>(steps_);
  }
  std::unique_ptr<Reader<TrainingPhase>> phases() const override {
    return std::make_unique<ListReader<TrainingPhase>>(std::vector<TrainingPhase>());
  }
  std::unique_ptr<Reader<TrainingNumber>> numbers() const override {
    return std::make_unique<ListReader<TrainingNumber>>(std::vector<TrainingNumber>());
  }

 private:
  template <typename Item>
  class ListReader : public Reader<Item> {
   public:
    explicit ListReader(std::vector<Item> items) : items_(std::move(items)) {}
    Result<bool> next(Item& item) override {
      if (at_ == items_.size()) return false;
      item = items_[at_++];
      return true;
    }

   private:
    std::vector<Item> items_;
    size_t at_ = 0;
  };

  std::vector<Step> steps_;
};

class FakeRun : public RunView {
 public:
  FakeRun(double period_s, double duration_s) : duration_s_(duration_s) {
    manifest_.id = "0123456789";
    manifest_.started = "2026-01-02T03:04:05.000Z";
    sampling_.period_s = period_s;
  }
  // Values at these times; a NaN is an absent one.
  void add(const std::string& metric, const Labels& labels, Kind kind,
           const std::vector<double>& times, const std::vector<double>& values) {
    series_.push_back({metric, labels, "1", kind, false, SeriesStatus::ok, "", ""});
    Points points{times, values, {}};
    for (const double value : values) points.present.push_back(value == value ? 1 : 0);
    points_.push_back(points);
  }
  void add_absent(const std::string& metric) {
    series_.push_back({metric, {}, "1", Kind::gauge, false, SeriesStatus::absent, "why", ""});
    points_.emplace_back();
  }

  const Manifest& manifest() const override { return manifest_; }
  const std::string& path() const override { return path_; }
  RunStatus status() const override { return status_; }
  void set_status(RunStatus status) { status_ = status; }
  void set_path(std::string path) { path_ = std::move(path); }
  // The series that was added last.
  Series& last_series() { return series_.back(); }
  double duration_s() const override { return duration_s_; }
  const std::string& host_json() const override { return host_; }
  const std::vector<Series>& series() const override { return series_; }
  Result<Points> points(size_t i, const Range& range) const override {
    Points out;
    for (size_t k = 0; k < points_[i].time_s.size(); ++k) {
      const double t = points_[i].time_s[k];
      if ((range.begin_s && t < *range.begin_s) || (range.end_s && t >= *range.end_s)) continue;
      out.time_s.push_back(t);
      out.value.push_back(points_[i].value[k]);
      out.present.push_back(points_[i].present[k]);
    }
    return out;
  }
  Result<Summary> summary(size_t /*i*/) const override { return Summary(); }
  const Sampling& sampling() const override { return sampling_; }
  Overhead overhead() const override { return overhead_; }
  void set_overhead(Overhead overhead) { overhead_ = overhead; }
  const std::vector<Event>& events() const override { return events_; }
  const Training& training() const override { return training_; }
  void set_ended_by(EndedBy ended_by) { manifest_.ended_by = ended_by; }
  void set_host(std::string json) { host_ = std::move(json); }
  Manifest& own_manifest() { return manifest_; }
  void set_limits(MachineLimits limits) { manifest_.limits = std::move(limits); }
  void add_gap(Gap gap) { sampling_.gaps.push_back(std::move(gap)); }
  void add_event(Event event) { events_.push_back(std::move(event)); }
  void set_command(std::vector<std::string> words) { manifest_.command = std::move(words); }
  void set_training(Training training) { training_ = std::move(training); }

 private:
  Manifest manifest_;
  std::string path_ = "run", host_ = "{}";
  double duration_s_;
  RunStatus status_ = RunStatus::ended;
  std::vector<Series> series_;
  std::vector<Points> points_;
  Sampling sampling_;
  Overhead overhead_;
  std::vector<Event> events_;
  Training training_;
};

}  // namespace trainscope
