// csv: samples as text for spreadsheets and data frames (RFC 4180, lines end with CR LF).
//
// Long: one line per sample, `time_s,metric,labels,value`, in order of time. Wide: one column per
// series. The rows of the wide form are the times of the fastest stream; a value of a slower one is
// in the row of the tick before it if that is less than a period away, otherwise in its own row. A
// field without a sample is empty: no value is carried forward. Samples of one series with the same
// time (steps that were reported together) are in several rows with that time.
#include <algorithm>

#include "base/text.h"
#include "export/export.h"
#include "export/support/selection.h"
#include "export/support/steps.h"
#include "export/support/text.h"

namespace trainscope::csv_exporter {

namespace {

constexpr std::string_view kEol = "\r\n";

Status write_long(const RunView& run, const std::vector<size_t>& selected,
                  const ExportOptions& options, const ExportSink& sink) {
  std::vector<std::string> middles;  // ",metric,labels," of each series
  for (const size_t i : selected) {
    std::string middle = ",";
    append_csv_field(middle, run.series_at(i).metric);
    middle += ',';
    append_csv_field(middle, labels_text(run.series_at(i).labels));
    middles.push_back(middle + ",");
  }
  TextBuffer buffer(sink);
  buffer.text() = "time_s,metric,labels,value";
  buffer.text() += kEol;
  TimeText time;
  TS_CHECK_OK(for_each_window(run, selected, options, [&](const Window& window) {
    return for_each_sample(window, [&](const SampleAt& at) {
      buffer.text() += time.of(at.time_s);
      buffer.text() += middles[at.series];
      append_value(buffer.text(), window.series[at.series].value[at.sample]);
      buffer.text() += kEol;
      return buffer.pass_on_when_full();
    });
  }));
  return buffer.pass_on();
}

// The times of the window's fastest stream: those of the series with the most samples.
std::vector<double> grid_of(const Window& window) {
  const auto longest = std::max_element(
      window.series.begin(), window.series.end(),
      [](const Values& a, const Values& b) { return a.time_s.size() < b.time_s.size(); });
  return longest == window.series.end() ? std::vector<double>() : longest->time_s;
}

// The time of the row of a sample: its grid row, or its own.
double row_time(const std::vector<double>& grid, double period_s, double time_s) {
  const auto after = std::upper_bound(grid.begin(), grid.end(), time_s);
  if (after == grid.begin()) return time_s;
  const double before = *(after - 1);
  return time_s - before < period_s ? before : time_s;
}

class WideRows {
 public:
  WideRows(size_t columns, double period_s, TextBuffer& buffer)
      : fields_(columns), period_s_(period_s), buffer_(buffer) {}

  Status add(const Window& window) {
    const std::vector<double> grid = grid_of(window);
    std::vector<SampleAt> samples;
    TS_CHECK_OK(for_each_sample(window, [&](SampleAt at) -> Status {
      const auto& times = window.series[at.series].time_s;
      const double row = row_time(grid, period_s_, at.time_s);
      // Two samples of a series cannot share a row: the later one gets its own.
      const bool taken = at.sample > 0 && times[at.sample - 1] >= row && row < at.time_s;
      if (!taken) at.time_s = row;
      samples.push_back(at);
      return {};
    }));
    sort_by_time(samples);
    for (size_t i = 0; i < samples.size();) {
      const double time_s = samples[i].time_s;
      here_.clear();
      for (; i < samples.size() && samples[i].time_s == time_s; ++i) here_.push_back(samples[i]);
      TS_CHECK_OK(write_rows(window, time_s));
    }
    return {};
  }

 private:
  // The samples of one time. Steps that were reported together have one time: then a series has
  // several samples here, and each of them is in a row of its own.
  Status write_rows(const Window& window, double time_s) {
    while (!here_.empty()) {
      for (std::string& field : fields_) field.clear();
      std::erase_if(here_, [&](const SampleAt& at) {
        std::string& field = fields_[at.series];
        if (!field.empty()) return false;
        append_value(field, window.series[at.series].value[at.sample]);
        return true;
      });
      TS_CHECK_OK(write_row(time_s));
    }
    return {};
  }

  Status write_row(double time_s) {
    std::string& text = buffer_.text();
    append_time(text, time_s);
    for (const std::string& field : fields_) {
      text += ',';
      text += field;
    }
    text += kEol;
    return buffer_.pass_on_when_full();
  }

  std::vector<std::string> fields_;
  std::vector<SampleAt> here_;  // samples that have the same row time
  const double period_s_;
  TextBuffer& buffer_;
};

Status write_wide(const RunView& run, const std::vector<size_t>& selected,
                  const ExportOptions& options, const ExportSink& sink) {
  TextBuffer buffer(sink);
  buffer.text() = "time_s";
  for (const size_t i : selected) {
    buffer.text() += ',';
    append_csv_field(buffer.text(), series_text(run.series_at(i)));
  }
  buffer.text() += kEol;
  // Resampled values are at the beginnings of their buckets: equal times, nothing to align.
  const double period_s = options.every_ns > 0 ? 0 : run.sampling().period_s;
  WideRows rows(selected.size(), period_s, buffer);
  TS_CHECK_OK(for_each_window(run, selected, options,
                              [&](const Window& window) { return rows.add(window); }));
  return buffer.pass_on();
}

Status write_csv(const RunView& run, const ExportOptions& options, const ExportSink& sink) {
  if (options.steps) return write_steps_csv(run, options, sink);
  TS_TRY(const std::vector<size_t> selected, select_series(run, options.metrics));
  return options.wide ? write_wide(run, selected, options, sink)
                      : write_long(run, selected, options, sink);
}

}  // namespace

extern const Exporter entry;
const Exporter entry = {
    .name = "csv",
    .summary =
        "comma-separated values: one line per sample or step, or --wide with one column per series",
    .extension = ".csv",
    .is_text = true,
    .has_wide = true,
    .write = write_csv,
};

}  // namespace trainscope::csv_exporter
