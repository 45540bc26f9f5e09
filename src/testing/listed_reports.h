// Reports that are written down, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "training/training.h"

namespace trainscope {

inline Result<StoredReport> parse_stored_report(std::string_view line) {
  StoredReport stored;
  TS_CHECK_OK(parse_stored_report(line, stored));
  return stored;
}

class ListedReports : public Reports {
 public:
  // In any order.
  explicit ListedReports(std::vector<StoredReport> all) : all_(std::move(all)) {
    std::stable_sort(all_.begin(), all_.end(), [](const StoredReport& a, const StoredReport& b) {
      return a.time_s < b.time_s;
    });
  }

  std::unique_ptr<Reader<StoredReport>> read(ReportsWanted /*wanted*/) const override {
    return std::make_unique<ListedReader>(all_);
  }

 private:
  class ListedReader : public Reader<StoredReport> {
   public:
    explicit ListedReader(const std::vector<StoredReport>& all) : all_(all) {}
    Result<bool> next(StoredReport& report) override {
      if (at_ == all_.size()) return false;
      report = all_[at_++];
      return true;
    }

   private:
    const std::vector<StoredReport>& all_;
    size_t at_ = 0;
  };

  std::vector<StoredReport> all_;
};

template <typename Item>
std::vector<Item> read_all(std::unique_ptr<Reader<Item>> reader) {
  std::vector<Item> all;
  for (Item item;;) {
    const auto has_more = reader->next(item);
    CHECK(has_more);
    if (!*has_more) return all;
    all.push_back(item);
  }
}

// A training with everything that was reported in lists.
struct ListedTraining : Training {
  std::vector<Step> steps;
  std::vector<TrainingPhase> all_phases;  // by end
  std::vector<TrainingNumber> numbers;
};

inline ListedTraining read_listed(std::vector<StoredReport> reports, double duration_s,
                                  std::span<const Event> events = {}) {
  auto read =
      read_training(std::make_shared<ListedReports>(std::move(reports)), duration_s, events);
  CHECK(read);
  ListedTraining training;
  static_cast<Training&>(training) = std::move(*read);
  training.steps = read_all(training.details->steps());
  training.all_phases = read_all(training.details->phases());
  training.numbers = read_all(training.details->numbers());
  return training;
}

// One line "TIME_S SOURCE REPORT" each.
inline ListedTraining read_lines(const std::vector<std::string>& lines, double duration_s = 100,
                                 const std::vector<Event>& events = {}) {
  std::vector<StoredReport> reports;
  for (const std::string& line : lines) {
    const size_t space = line.find(' ');
    const auto time_ns = std::llround(std::stod(line.substr(0, space)) * 1e9);
    auto stored = parse_stored_report(std::to_string(time_ns) + line.substr(space));
    CHECK(stored);
    reports.push_back(std::move(*stored));
  }
  return read_listed(std::move(reports), duration_s, events);
}

// Printed steps with these numbers, one per second.
inline ListedTraining read_numbered(const std::vector<int>& numbers) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < numbers.size(); ++i) {
    lines.push_back(std::to_string(i + 1) + " output step " + std::to_string(numbers[i]));
  }
  return read_lines(lines);
}

}  // namespace trainscope
