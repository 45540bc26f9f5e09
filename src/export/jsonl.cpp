// jsonl: one JSON object per line. The first is the header: schema trainscope.export/1, the run and
// its series; each further one is a sample with time_s, metric, labels and value, in order of time,
// or a step (export/support/steps.h).
#include "export/export.h"
#include "export/support/followed_samples.h"
#include "export/support/followed_steps.h"
#include "export/support/header.h"
#include "export/support/selection.h"
#include "export/support/steps.h"
#include "export/support/text.h"

namespace trainscope::jsonl_exporter {

namespace {

Status write_jsonl(const RunView& run, const ExportOptions& options, const ExportSink& sink) {
  if (options.steps) return write_steps_jsonl(run, options, sink);
  TS_TRY(const std::vector<size_t> selected, select_series(run, options.metrics));
  std::vector<std::string> middles;
  for (const size_t i : selected) middles.push_back(sample_middle(run.series_at(i)));
  TextBuffer buffer(sink);
  buffer.text() = samples_header_line(run, selected, options);
  TimeText time;
  TS_CHECK_OK(for_each_window(run, selected, options, [&](const Window& window) {
    return for_each_sample(window, [&](const SampleAt& at) {
      buffer.text() += "{\"time_s\":";
      buffer.text() += time.of(at.time_s);
      buffer.text() += middles[at.series];
      append_value(buffer.text(), window.series[at.series].value[at.sample]);
      buffer.text() += "}\n";
      return buffer.pass_on_when_full();
    });
  }));
  return buffer.pass_on();
}

std::unique_ptr<FollowedExport> follow_jsonl(const ExportOptions& options, const ExportSink& sink) {
  return options.steps ? follow_steps(options, sink) : follow_samples(options, sink);
}

}  // namespace

extern const Exporter entry;
const Exporter entry = {
    .name = "jsonl",
    .summary = "one JSON object per line: a header, then every sample or step",
    .extension = ".jsonl",
    .is_text = true,
    .has_wide = false,
    .write = write_jsonl,
    .follow = follow_jsonl,
};

}  // namespace trainscope::jsonl_exporter
