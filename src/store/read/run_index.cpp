#include "store/read/run_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "format/format.h"
#include "store/read/reports.h"

namespace trainscope {

namespace {

// Schemas whose number names another layout already are counted from here on; numbers in files are
// below.
constexpr uint64_t kRenumbered = uint64_t{1} << 63;
// Lines of progress that a run may have in addition to kReportsPerByte.
constexpr uint64_t kFreeReports = 4096;

// Files that end within a block, and where in the file the block begins.
using TornBlocks = std::map<const RunFile*, uint64_t>;

class Indexer {
 public:
  // `read_last`: blocks that lack values which another file has.
  explicit Indexer(const RunFiles& files, TornBlocks read_last = {})
      : files_(files),
        read_last_(std::move(read_last)),
        events_(files.most_gaps),
        missed_(files.most_gaps) {}

  Result<RunIndex> run() {
    for (const RunFile& segment : files_.segments) {
      note_missing_segments(segment.name);
      TS_CHECK_OK(add_file(segment));
    }
    if (!files_.tail.name.empty()) TS_CHECK_OK(add_file(files_.tail));
    for (const auto& [file, offset] : read_last_) {
      TS_CHECK_OK(add_frames(*file, offset, SIZE_MAX));
    }
    index_.events = events_.finish();
    index_.missed = missed_.finish();
    index_.left_out_missed = missed_.left_out();
    return std::move(index_);
  }

  // After run(): torn blocks of which a later file has more values.
  const TornBlocks& repeated_torn_blocks() const { return repeated_; }

 private:
  void note_missing_segments(const std::string& name) {
    const int number = segment_number(name).value_or(next_segment_);
    if (number == next_segment_ + 1) {
      note(fmt::format("samples-{:04}.seg is missing", next_segment_));
    } else if (number > next_segment_) {
      note(fmt::format("samples-{:04}.seg to samples-{:04}.seg are missing", next_segment_,
                       number - 1));
    }
    next_segment_ = number + 1;
  }

  Status add_file(const RunFile& file) {
    // The tail of a closed run is about to be removed: all of it is in the segments.
    is_counted_ = &file != &files_.tail || files_.manifest.ended.empty();
    if (is_counted_) index_.value_bytes += static_cast<int64_t>(file.size());
    const auto torn = read_last_.find(&file);
    return add_frames(file, 0, torn == read_last_.end() ? SIZE_MAX : torn->second);
  }

  // The frames at offsets from `begin` to before `end`.
  Status add_frames(const RunFile& file, uint64_t begin, uint64_t end) {
    file_ = &file;
    open_blocks_.clear();
    last_block_.reset();
    // A file that ends within its first bytes was being made when everything stopped.
    if (file.size() <= kFileHeaderBytes && check_file_header(file.bytes)) return {};
    const FrameVisitor visitor = {
        [&](const Frame& frame) {
          return frame.offset < begin || frame.offset >= end ? Status() : take_frame(frame);
        },
        [&](const Damage& damage) {
          if (damage.from < begin || damage.from >= end) return;
          if (begin > 0 && are_rows_elsewhere()) return;
          note(fmt::format("{}: {}", file.name, damage.reason));
        }};
    const auto scan = visit_frames(file.frames(), visitor);
    if (!scan) return scan.error().with_context(files_.path + "/" + file.name);
    if (begin == 0 && *scan > 0 && !files_.manifest.ended.empty()) note_cut(file.name, *scan);
    if (last_block_) file_ends_[last_block_->stream] = *last_block_;
    return {};
  }

  // In a run that ended: its recorder was killed while it wrote, or this copy of it is not whole.
  void note_cut(const std::string& name, size_t offset) {
    index_.cuts.push_back({fmt::format("{}: ends within a frame, at offset {}", name, offset),
                           first_stream_blocks()});
  }

  size_t first_stream_blocks() const {
    const auto first = index_.streams.find(0);
    return first == index_.streams.end() ? 0 : first->second.blocks.size();
  }

  bool are_rows_elsewhere() const {
    return std::all_of(open_blocks_.begin(), open_blocks_.end(),
                       [](const auto& open) { return open.second.block == kDropped; });
  }

  // What is malformed is damage; an Error ends the reading.
  Status take_frame(const Frame& frame) {
    if (frame.type != FrameType::columns) last_block_.reset();
    const Status added = add_frame(frame);
    const std::string where =
        added && exceeded_.empty() ? "" : fmt::format("frame at offset {}", frame.offset);
    if (!exceeded_.empty()) return Error(where + ": " + exceeded_);
    if (!added) note(fmt::format("{}: {}: {}", file_->name, where, added.error().message()));
    return {};
  }

  void note(std::string text) {
    const size_t before = first_stream_blocks();
    auto& damages = index_.damages;
    if (damages.size() >= kMaxListedDamages && damages.back().blocks_before == before) {
      ++damages.back().unlisted;
    } else {
      damages.push_back({std::move(text), before});
    }
  }

  Status add_frame(const Frame& frame) {
    switch (frame.type) {
      case FrameType::head:
        return add_head(frame.payload);
      case FrameType::schema:
        return add_schema(frame.payload);
      case FrameType::times:
        return add_times(frame);
      case FrameType::columns:
        return add_columns(frame);
      case FrameType::event:
        return events_.add(frame.payload);
      case FrameType::info:
        if (!parse_json(frame.payload).is_object()) return Error("malformed inventory");
        index_.host_json = frame.payload;
        return {};
      case FrameType::step:
        uncount(frame);
        return add_reports(frame);
      case FrameType::manifest:  // for rebuild_manifest
        uncount(frame);
        return {};
      case FrameType::closing:
        return add_closing(frame.payload);
      default:
        return {};  // from a later version, or reserved
    }
  }

  // Not of the values.
  void uncount(const Frame& frame) {
    if (is_counted_) index_.value_bytes -= static_cast<int64_t>(frame.payload.size());
  }

  Status add_head(std::string_view payload) {
    const auto incarnation = integer_field(parse_json(payload), "incarnation");
    if (!incarnation || *incarnation < 1 || *incarnation > INT32_MAX)
      return Error("malformed head");
    index_.incarnations = std::max(index_.incarnations, *incarnation);
    return {};
  }

  Status add_schema(std::string_view payload) {
    const auto seen = schema_texts_.find(payload);
    if (seen != schema_texts_.end() && schema_places_[seen->second].text == payload) {
      return {};  // repeated at the head of each segment
    }
    TS_TRY(StoredSchema schema, parse_schema(payload));
    const auto [text, is_new_text] = schema_texts_.emplace(payload, schema.number);
    const auto [known, is_new] =
        schema_places_.emplace(schema.number, SchemaPlace{schema.number, text->first});
    if (!is_new) {
      // Earlier recorders gave a number twice when there were more than a thousand layouts before a
      // restart. From here on it names the new layout.
      known->second = {kRenumbered + index_.schemas.size(), text->first};
      schema.number = known->second.number;
    }
    int64_t& period = index_.streams[schema.stream].period_ns;
    if (period == 0) {
      period = schema.stream == 0 && files_.manifest.period_ns > 0 ? files_.manifest.period_ns
                                                                   : schema.period_ns;
    }
    index_.schemas.emplace(schema.number, std::move(schema));
    return {};
  }

  FramePlace place_of(const Frame& frame) const {
    return {file_, frame.offset, static_cast<uint32_t>(frame.payload.size()), frame.flags};
  }

  Status add_times(const Frame& frame) {
    TS_TRY(const TimesBlock times, decode_times(frame.payload));
    const auto found = index_.streams.find(times.stream);
    const std::pair key(times.stream, times.block);
    open_blocks_.erase(key);
    if (found == index_.streams.end()) return Error("rows of a stream without a schema");
    StoredStream& stream = found->second;
    for (const RowTime& row : times.rows) {
      if (!is_within_time(row, stream.period_ns)) return Error("rows outside of time");
    }
    const int64_t last = stream.blocks.empty() ? -1 : stream.blocks.back().back_tick;
    size_t begin = 0;
    while (begin < times.rows.size() && times.rows[begin].tick <= last) ++begin;
    if (begin == times.rows.size()) {  // all of it was read already; its columns are not damage
      open_blocks_[key] = {times.stream, kDropped, repeats_file_end(times)};
      return {};
    }
    last_block_ = BlockAtEnd{file_, frame.offset, times.stream, stream.blocks.size()};
    open_blocks_[key] = {times.stream, stream.blocks.size(), repeats_file_end(times)};
    stream.blocks.push_back(block_of(frame, times.rows, begin, last_tick(stream)));
    if (times.stream == 0) count_ticks(times.rows, stream.blocks.size() - 1);
    return {};
  }

  // Does it have the rows of the block that an earlier file ends with?
  bool repeats_file_end(const TimesBlock& times) const {
    const auto end = file_ends_.find(times.stream);
    if (end == file_ends_.end() || times.rows.empty()) return false;
    const StoredBlock& block = index_.streams.at(times.stream).blocks[end->second.block];
    return times.rows.front().tick <= block.front_tick;
  }

  // The block at the end of a file lacks these values: the file was not written to its end.
  void note_torn(uint64_t stream, const StoredSchema& schema) {
    const BlockAtEnd& end = file_ends_.at(stream);
    const auto& columns = index_.streams.at(stream).blocks[end.block].columns;
    const bool has_them = std::any_of(columns.begin(), columns.end(),
                                      [&](const auto& frame) { return frame.schema == &schema; });
    if (!has_them) repeated_.emplace(end.file, end.offset);
  }

  // The last tick of a stream that counts.
  int64_t last_tick(const StoredStream& stream) const {
    if (!files_.manifest.duration_s) return INT64_MAX;
    return std::llround(*files_.manifest.duration_s * 1e9) / stream.period_ns;
  }

  StoredBlock block_of(const Frame& frame, const std::vector<RowTime>& rows, size_t begin,
                       int64_t last_tick) const {
    StoredBlock block;
    block.times = place_of(frame);
    block.rows = rows.size();
    block.begin = begin;
    block.end = rows.size();
    while (block.end > begin && rows[block.end - 1].tick > last_tick) --block.end;
    block.front_tick = rows.front().tick;
    block.back_tick = rows.back().tick;
    block.first = rows[begin];
    block.last = block.is_empty() ? rows.back() : rows[block.end - 1];
    return block;
  }

  void count_ticks(const std::vector<RowTime>& rows, size_t number) {
    const StoredBlock& block = index_.streams[0].blocks[number];
    for (size_t r = block.begin; r < block.end; ++r) {
      index_.lateness.add(rows[r].late_us);
      if (r == block.begin) continue;
      const int64_t from = rows[r - 1].tick + 1, to = rows[r].tick;
      if (to - from >= kGapTicks) missed_.add({number, from, to});
    }
  }

  // The layout that a number names at this place of the files.
  std::map<uint64_t, StoredSchema>::const_iterator find_schema(uint64_t number) const {
    const auto place = schema_places_.find(number);
    return index_.schemas.find(place == schema_places_.end() ? number : place->second.number);
  }

  Status add_columns(const Frame& frame) {
    TS_TRY(const uint64_t number, peek_schema(frame.payload));
    const auto schema = find_schema(number);
    if (schema == index_.schemas.end()) {
      return Error(fmt::format("values of the unknown schema {}", number));
    }
    TS_TRY(const ColumnsHeader header,
           decode_columns_header(frame.payload, frame.flags, schema->second.totals));
    const auto open = open_blocks_.find({schema->second.stream, header.block});
    if (open == open_blocks_.end()) return Error("values without their times");
    if (open->second.repeats_file_end) note_torn(open->second.stream, schema->second);
    const size_t at = open->second.block;
    if (at == kDropped) return {};
    StoredBlock& block = index_.streams[open->second.stream].blocks[at];
    if (header.rows != block.rows) return Error("another number of values than of times");
    for (const ColumnsFrame& other : block.columns) {
      if (other.schema == &schema->second) return {};
    }
    block.columns.push_back({&schema->second, place_of(frame)});
    add_frame_summary(index_.summaries[schema->first], schema->second, header, frame.flags,
                      {at, block.rows, block.begin, block.end});
    return {};
  }

  // They are only counted here: StoredReports reads them.
  Status add_reports(const Frame& frame) {
    if (files_.is_training_known) return {};
    TS_TRY(const std::string_view lines, report_lines(frame.payload, frame.flags, report_buffer_));
    TS_TRY(const uint64_t count, count_reports(lines));
    reports_left_ += kReportsPerByte * frame.payload.size();
    if (count > reports_left_) {
      exceeded_ = fmt::format("more than {} progress messages per byte", kReportsPerByte);
      return {};
    }
    reports_left_ -= count;
    index_.report_frames.push_back(place_of(frame));
    return {};
  }

  Status add_closing(std::string_view payload) {
    const Json json = parse_json(payload);
    const auto number = integer_field(json, "schema"), time_ns = integer_field(json, "time_ns");
    const Json& values = field(json, "values");
    if (!number || !time_ns || !values.is_array()) return Error("malformed closing values");
    const auto schema = find_schema(static_cast<uint64_t>(*number));
    if (schema == index_.schemas.end() || schema->second.columns.size() != values.size()) {
      return Error("closing values do not fit a schema");
    }
    Closing closing{static_cast<double>(*time_ns) / 1e9, {}};
    for (const Json& value : values) closing.values.push_back(integer(value).value_or(kAbsent));
    index_.closings[schema->first] = std::move(closing);
    return {};
  }

  static constexpr size_t kDropped = SIZE_MAX;
  struct OpenBlock {
    uint64_t stream = 0;
    size_t block = 0;
    bool repeats_file_end = false;
  };
  struct BlockAtEnd {
    const RunFile* file = nullptr;
    uint64_t offset = 0;  // of its times
    uint64_t stream = 0;
    size_t block = 0;
  };
  struct SchemaPlace {
    uint64_t number = 0;  // in index_.schemas
    std::string_view text;
  };

  const RunFiles& files_;
  const TornBlocks read_last_;
  TornBlocks repeated_;
  std::optional<BlockAtEnd> last_block_;      // of the current file, while nothing follows it
  std::map<uint64_t, BlockAtEnd> file_ends_;  // by stream, of earlier files: the last one
  RunIndex index_;
  EventList events_;
  MissedList missed_;
  int next_segment_ = 1;
  uint64_t reports_left_ = kFreeReports;
  std::string report_buffer_;
  std::string exceeded_;  // what the files claim beyond what they can hold
  std::map<std::string, uint64_t, std::less<>> schema_texts_;  // with the number in the files
  std::map<uint64_t, SchemaPlace> schema_places_;              // by that number
  const RunFile* file_ = nullptr;                              // the one that is read
  bool is_counted_ = true;  // the file is part of what the values take
  // The blocks of the current file by stream and number.
  std::map<std::pair<uint64_t, uint64_t>, OpenBlock> open_blocks_;
};

}  // namespace

Result<RunIndex> index_run(const RunFiles& files) {
  Indexer indexer(files);
  auto index = indexer.run();
  if (!index || indexer.repeated_torn_blocks().empty()) return index;
  // A failed or interrupted write left a part of a block. Of rows that are stored twice the first
  // are taken, so that part is read last.
  return Indexer(files, indexer.repeated_torn_blocks()).run();
}

}  // namespace trainscope
