#include "format/run_data.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <span>

#include "base/clock.h"
#include "base/json.h"
#include "format/durable.h"
#include "format/frame.h"
#include "format/manifest.h"
#include "format/schema.h"
#include "format/segment_writer.h"

namespace trainscope {

namespace {

constexpr size_t kBlockRows = 1024;
constexpr int kZstdLevel = 3;
constexpr int kSchemaNumber = 1;
constexpr uint64_t kStream = 0;

StoredSchema schema_of(const RunData& run) {
  StoredSchema schema;
  schema.number = kSchemaNumber;
  schema.stream = kStream;
  schema.period_ns = run.manifest.period_ns;
  schema.source = run.source;
  for (const ColumnData& column : run.columns) {
    schema.add({column.metric, column.labels, column.unit, column.kind, column.scale, false});
  }
  for (const MissingMetric& m : run.missing) {
    schema.missing.push_back({m.metric, m.unit, m.reason, "", Kind::gauge});
  }
  return schema;
}

// The frames that a segment begins with.
std::string first_frames(const RunData& run, const StoredSchema& schema, const std::string& id,
                         uint32_t segment) {
  std::string frames;
  append_frame(frames, FrameType::head, 0,
               dump_json(Json{{"run", id}, {"segment", segment}, {"incarnation", 1}}));
  append_frame(frames, FrameType::schema, 0, schema_json(schema));
  append_frame(frames, FrameType::info, 0, run.host_json);
  return frames;
}

std::string event_frames(const RunData& run) {
  std::string frames;
  for (const Event& event : run.events) {
    append_frame(frames, FrameType::event, 0,
                 dump_json(Json{{"time_ns", std::llround(event.time_s * 1e9)},
                                {"kind", event.kind},
                                {"text", event.text}},
                           -1));
  }
  return frames;
}

// The segments of a run: when one is full, the next begins.
class Segments {
 public:
  Segments(const std::string& folder, const RunData& run, const StoredSchema& schema,
           const std::string& id, size_t segment_bytes)
      : writer_(folder), run_(run), schema_(schema), id_(id), segment_bytes_(segment_bytes) {}

  Status append(std::string_view frames) {
    if (number_ == 0 || writer_.segment_bytes() >= segment_bytes_) {
      TS_TRY(number_, writer_.begin(number_ + 1, [this](uint32_t number) {
        return first_frames(run_, schema_, id_, number);
      }));
    }
    return writer_.append(frames);
  }

 private:
  SegmentWriter writer_;
  const RunData& run_;
  const StoredSchema& schema_;
  const std::string& id_;
  const size_t segment_bytes_;
  uint32_t number_ = 0;
};

// Takes rows and writes them block by block.
class RowWriter {
 public:
  RowWriter(Segments& segments, const StoredSchema& schema)
      : segments_(segments),
        schema_(schema),
        columns_(schema.columns.size()),
        values_(columns_ * kBlockRows) {}

  Status take_all(RowSource& rows) {
    for (;;) {
      RowTime time;
      const auto row = std::span(values_).subspan(times_.size() * columns_, columns_);
      TS_TRY(const bool more, rows.next(time, row));
      if (!more) break;
      if (!is_within_time(time, schema_.period_ns)) return outside_of_time();
      times_.push_back(time);
      last_tick_ = time.tick;
      ++count_;
      if (times_.size() == kBlockRows) TS_CHECK_OK(write_block());
    }
    return times_.empty() ? Status() : write_block();
  }

  int64_t count() const { return count_; }
  int64_t last_tick() const { return last_tick_; }

 private:
  Error outside_of_time() const {
    return Error(fmt::format("row {} is more than {} years from the first one: too long for a run",
                             count_ + 1, kMaxTimeNs / (365 * 86'400 * kNsPerSecond)));
  }

  Status write_block() {
    ++block_;
    std::string frames;
    append_times(frames, kStream, block_, times_);
    std::vector<const int64_t*> rows;
    for (size_t r = 0; r < times_.size(); ++r) rows.push_back(values_.data() + r * columns_);
    append_columns(frames, kSchemaNumber, block_, rows, columns_, {schema_.totals, kZstdLevel});
    times_.clear();
    return segments_.append(frames);
  }

  Segments& segments_;
  const StoredSchema& schema_;
  const size_t columns_;
  std::vector<int64_t> values_;  // of one block, row after row
  std::vector<RowTime> times_;
  uint64_t block_ = 0;
  int64_t count_ = 0, last_tick_ = 0;
};

}  // namespace

Result<WrittenRun> write_run_folder(const std::string& folder, const std::string& id,
                                    const RunData& run, size_t segment_bytes) {
  if (::mkdir(folder.c_str(), 0700) != 0) {
    return Error::from_errno("cannot create the folder " + folder, errno);
  }
  const StoredSchema schema = schema_of(run);
  Segments segments(folder, run, schema, id, segment_bytes);
  TS_CHECK_OK(segments.append(event_frames(run)));
  RowWriter rows(segments, schema);
  TS_CHECK_OK(rows.take_all(*run.rows));
  WrittenRun written{folder, run.manifest, rows.count()};
  Manifest& m = written.manifest;
  m.id = id;
  for (std::string& note : run.rows->notes()) m.notes.push_back(std::move(note));
  m.duration_s = static_cast<double>(rows.last_tick()) * static_cast<double>(m.period_ns) / 1e9;
  std::string frame;
  append_frame(frame, FrameType::manifest, kFrameZstd, compress(manifest_to_json(m), kZstdLevel));
  TS_CHECK_OK(segments.append(frame));
  TS_CHECK_OK(write_manifest(folder, m));
  TS_CHECK_OK(settle_run(folder, true));
  return written;
}

}  // namespace trainscope
