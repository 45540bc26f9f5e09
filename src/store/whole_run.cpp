#include "store/whole_run.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <span>

#include "store/frame.h"
#include "store/json_fields.h"
#include "store/remove.h"
#include "store/segment_writer.h"

namespace trainscope {

namespace {

constexpr size_t kBlockRows = 1024;
constexpr int kZstdLevel = 3;
constexpr int kSchema = 1;
constexpr uint64_t kStream = 0;

std::string schema_json(const WholeRun& run) {
  Json columns = Json::array();
  for (const WholeColumn& column : run.columns) {
    Json labels = Json::object();
    for (const auto& [name, value] : column.labels) labels[name] = value;
    columns.push_back({{"metric", column.metric},
                       {"labels", labels},
                       {"unit", column.unit},
                       {"kind", kind_name(column.kind)},
                       {"scale", {column.scale.numerator, column.scale.denominator}},
                       {"type", "i64"}});
  }
  Json missing = Json::array();
  for (const WholeMissing& m : run.missing) {
    missing.push_back({{"metric", m.metric},
                       {"unit", m.unit},
                       {"kind", kind_name(Kind::gauge)},
                       {"reason", m.reason},
                       {"remedy", ""}});
  }
  return dump_json({{"schema", kSchema},
                    {"stream", kStream},
                    {"period_ns", run.manifest.period_ns},
                    {"source", run.source},
                    {"columns", columns},
                    {"missing", missing}},
                   -1);
}

void append_block(const WholeRun& run, uint64_t block, size_t from, size_t to,
                  std::span<const Totals> totals, std::string& frames) {
  const auto times = std::span(run.rows).subspan(from, to - from);
  append_frame(frames, FrameType::times, 0, encode_times(kStream, block, times));
  const size_t columns = run.columns.size();
  std::vector<int64_t> values(columns * times.size());
  std::vector<const int64_t*> rows;
  for (size_t r = 0; r < times.size(); ++r) {
    for (size_t c = 0; c < columns; ++c) {
      values[r * columns + c] = run.columns[c].values[from + r];
    }
    rows.push_back(values.data() + r * columns);
  }
  uint8_t flags = 0;
  const std::string payload =
      encode_columns(kSchema, block, rows, columns, {totals, kZstdLevel}, flags);
  append_frame(frames, FrameType::columns, flags, payload);
}

Status write_segment(const std::string& folder, const WholeRun& run) {
  SegmentWriter writer(folder);
  TS_TRY(const uint32_t number, writer.begin(1));
  std::string frames;
  append_frame(frames, FrameType::head, 0,
               dump_json({{"run", run.manifest.id}, {"segment", number}, {"incarnation", 1}}, -1));
  append_frame(frames, FrameType::schema, 0, schema_json(run));
  append_frame(frames, FrameType::info, 0, run.host_json);
  for (const Event& event : run.events) {
    append_frame(frames, FrameType::event, 0,
                 dump_json({{"time_ns", std::llround(event.time_s * 1e9)},
                            {"kind", event.kind},
                            {"text", event.text}},
                           -1));
  }
  TS_CHECK_OK(writer.append(frames));
  std::vector<Totals> totals;
  for (const WholeColumn& column : run.columns) {
    CHECK(column.values.size() == run.rows.size());
    totals.push_back(column.kind == Kind::counter ? Totals::increases : Totals::sum);
  }
  uint64_t block = 0;
  for (size_t from = 0; from < run.rows.size(); from += kBlockRows) {
    frames.clear();
    append_block(run, ++block, from, std::min(run.rows.size(), from + kBlockRows), totals, frames);
    TS_CHECK_OK(writer.append(frames));
  }
  return {};
}

Status write_folder(const std::string& folder, const WholeRun& run) {
  if (::mkdir(folder.c_str(), 0700) != 0) {
    return Error::from_errno("cannot make the folder " + folder, errno);
  }
  TS_CHECK_OK(write_segment(folder, run));
  return write_manifest(folder, run.manifest);
}

}  // namespace

Result<NewRun> keep_run(const std::string& home, const WholeRun& run) {
  // The empty folder keeps the id for us; it is no run until the full one takes its place.
  TS_TRY(NewRun made, create_run(home));
  WholeRun named = run;
  named.manifest.id = made.id;
  const std::string folder = home + "/.import-" + made.id;
  Status written = write_folder(folder, named);
  if (written && ::rename(folder.c_str(), made.path.c_str()) != 0) {
    written = Error::from_errno("cannot rename " + folder, errno);
  }
  if (written) return made;
  (void)remove_run(folder);
  ::rmdir(made.path.c_str());
  return written.error();
}

}  // namespace trainscope
