// The rows of `export --steps`: one per reported step, read one by one.
//
// Columns: step (counted through all epochs), reported_step (as the job counts), epoch, time_s
// (when it had ended), duration_s, covers (steps since the report before), input_wait_s, loss,
// accuracy, throughput, kind (warmup or step), then what else the job reported with steps, by the
// names that it gave. A name that one of these columns has, or that begins with `reported_`, gets
// `reported_` in front. Unknown is an empty field or null.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "export/export.h"
#include "model/training.h"

namespace trainscope {

// Visits the steps of a range in order of time.
Status for_each_step(const RunView& run, const Range& range,
                     const std::function<Status(const Step&)>& take);

// Lines end with CR LF. Reads the steps twice, because the header names all columns. An Error if
// there are more than kMaxStepNumbers of them.
inline constexpr size_t kMaxStepNumbers = 1000;
Status write_steps_csv(const RunView& run, const ExportOptions& options, const ExportSink& sink);

// A header, then an object for each step.
Status write_steps_jsonl(const RunView& run, const ExportOptions& options, const ExportSink& sink);
std::string steps_header_line(const RunView& run);
void append_step_line(std::string& out, const Step& step);

}  // namespace trainscope
