#include "training/survey.h"

#include "training/tracks.h"

namespace trainscope {

namespace {

constexpr size_t kMaxRemembered = 100'000;  // reports of event files with the same time

class CountedReports : public Reader<StoredReport> {
 public:
  CountedReports(std::unique_ptr<Reader<StoredReport>> all, bool is_output_refused)
      : all_(std::move(all)), filter_(is_output_refused) {}

  Result<bool> next(StoredReport& stored) override {
    for (;;) {
      TS_TRY(const bool has_more, all_->next(stored));
      if (!has_more) return false;
      if (filter_.counts(stored)) return true;
    }
  }

 private:
  std::unique_ptr<Reader<StoredReport>> all_;
  CountedFilter filter_;
};

}  // namespace

bool CountedFilter::counts(const StoredReport& stored) {
  if (is_output_refused_ && stored.source == kOutput) return false;
  return stored.source != kEventFiles || is_new(stored);
}

// Event files are read from their beginning after a restart of the recorder. Reports are in order
// of time, so one that was stored before is among those of the same time.
bool CountedFilter::is_new(const StoredReport& stored) {
  if (stored.time_s != time_s_) seen_.clear();
  time_s_ = stored.time_s;
  if (seen_.size() == kMaxRemembered) return true;
  return seen_.insert(format_report(stored.report)).second;
}

std::unique_ptr<Reader<StoredReport>> read_counted(const Reports& reports, bool is_output_refused,
                                                   ReportsWanted wanted) {
  return std::make_unique<CountedReports>(reports.read(wanted), is_output_refused);
}

}  // namespace trainscope
