#include "record/sample/journal.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "format/format.h"

namespace trainscope {

namespace {

constexpr int kZstdLevel = 3;
constexpr int64_t kMaxSyncPauseNs = 600'000'000'000;

FrameType frame_type(RecordKind kind) {
  switch (kind) {
    case RecordKind::event:
      return FrameType::event;
    case RecordKind::closing:
      return FrameType::closing;
    default:
      return FrameType::info;
  }
}

}  // namespace

Journal::Journal(Ring& ring, SharedMemory memory, std::string run_folder, Manifest manifest,
                 std::shared_ptr<StorageCalls> calls)
    : ring_(ring),
      memory_(memory),
      folder_(std::move(run_folder)),
      manifest_(std::move(manifest)),
      writer_(folder_, std::move(calls)),
      scanned_(ring.tail()) {
  // Rows of an earlier recorder that are still in the ring are made of the layouts it left.
  for (size_t s = 0; s < kMaxStreams; ++s) streams_[s].layout = memory_->layouts[s];
}

Status Journal::flush() {
  take_sync_outcome();
  if (!rewrite_.empty()) TS_CHECK_OK(append(""));
  TS_CHECK_OK(drain());
  const bool crowded = ring_.head() - ring_.tail() > ring_.capacity() / 2;
  const bool full = crowded || streams_[0].rows.size() >= kBlockRows;
  TS_CHECK_OK(full ? seal_block() : write_tail());
  start_sync_if_due();
  return {};
}

Status Journal::close() {
  take_sync_outcome();
  TS_CHECK_OK(drain());
  TS_CHECK_OK(seal_block());
  return rewrite_.empty() ? Status() : append("");
}

// Everything that is new: rows and texts are remembered, a schema closes the block before it.
Status Journal::drain() {
  for (;;) {
    bool at_schema = false;
    scanned_ = ring_.visit(scanned_, [&](const RecordHeader& header) {
      at_schema = header.kind == RecordKind::schema;
      if (!at_schema) take(header);
      return !at_schema;
    });
    if (memory_->ring_is_damaged.exchange(0) != 0) {
      append_storage_event(texts_,
                           "the memory for samples was damaged: the samples in it are lost");
    }
    if (!at_schema) return {};
    TS_CHECK_OK(seal_block());
    TS_CHECK_OK(take_schemas());
  }
}

void Journal::take(const RecordHeader& header) {
  if (sync_.waiting_since_ns == 0) sync_.waiting_since_ns = monotonic_ns();
  if (header.kind == RecordKind::row) {
    streams_[header.stream].rows.push_back(reinterpret_cast<const RowRecord*>(&header));
    return;
  }
  const std::string_view text = reinterpret_cast<const TextRecord*>(&header)->text();
  if (header.kind == RecordKind::step) return take_reports(text);
  if (header.kind == RecordKind::info) info_json_ = text;
  append_frame(texts_, frame_type(header.kind), 0, text);
}

void Journal::take_reports(std::string_view text) {
  const size_t end = text.find('\n');
  if (reports_.empty()) first_report_ = parse_integer(text.substr(0, end)).value_or(0);
  text.remove_prefix(end + 1);
  reports_ += text;
  reports_count_ += std::count(text.begin(), text.end(), '\n');
}

Status Journal::take_schemas() {
  // Before they are taken: a new segment begins with those in force, and these would be in it
  // twice.
  TS_CHECK_OK(ensure_segment());
  std::string frames;
  const uint64_t end = ring_.visit(scanned_, [&](const RecordHeader& header) {
    if (header.kind != RecordKind::schema) return false;
    take_schema(reinterpret_cast<const SchemaRecord&>(header), frames);
    return true;
  });
  TS_CHECK_OK(append(frames));
  scanned_ = end;
  for (size_t s = 0; s < kMaxStreams; ++s) memory_->layouts[s] = streams_[s].layout;
  ring_.release(end);
  return {};
}

void Journal::take_schema(const SchemaRecord& record, std::string& frames) {
  SchemaInfo info{record.columns, {}, std::string(record.text())};
  // A layout that no reader understands has no statistics.
  if (auto schema = parse_schema(info.json)) info.totals = std::move(schema->totals);
  append_frame(frames, FrameType::schema, 0, info.json);
  StreamLayout& layout = streams_[record.header.stream].layout;
  // The schema that this one replaces needs not be repeated in later segments.
  if (record.slot < layout.entries) schemas_.erase(layout.entry[record.slot].schema);
  layout.entries = record.slots;
  layout.entry[record.slot] = {record.schema, record.columns};
  schemas_[record.schema] = std::move(info);
}

void Journal::encode_rows(std::string& out, uint32_t stream, size_t from, uint64_t block,
                          bool sealed) const {
  const StreamRows& s = streams_[stream];
  std::vector<RowTime> times;
  for (size_t r = from; r < s.rows.size(); ++r)
    times.push_back({s.rows[r]->tick, s.rows[r]->late_us});
  append_times(out, stream, block, times);
  size_t offset = 0;
  std::vector<const int64_t*> rows(times.size());
  for (size_t e = 0; e < s.layout.entries; ++e) {
    const auto [schema, columns] = s.layout.entry[e];
    if (columns == 0) continue;
    for (size_t r = 0; r < rows.size(); ++r) rows[r] = s.rows[from + r]->values() + offset;
    EncodeOptions options;
    const auto known = schemas_.find(schema);
    if (sealed) options.zstd_level = kZstdLevel;
    if (sealed && known != schemas_.end()) options.totals = known->second.totals;
    append_columns(out, schema, block, rows, columns, options);
    offset += columns;
  }
}

Status Journal::seal_block() {
  std::string frames;
  for (uint32_t s = 0; s < kMaxStreams; ++s) {
    if (!streams_[s].rows.empty()) encode_rows(frames, s, 0, block_ + 1, true);
  }
  frames += texts_;
  if (!reports_.empty()) {
    const std::string text = fmt::format("{}\n{}", first_report_, reports_);
    const std::string packed = compress(text, kZstdLevel);
    const bool is_credible =
        static_cast<uint64_t>(reports_count_) <= kReportsPerByte * packed.size() &&
        text.size() <= most_report_bytes(packed.size());
    append_frame(frames, FrameType::step, is_credible ? kFrameZstd : 0,
                 is_credible ? packed : text);
  }
  if (!frames.empty()) TS_CHECK_OK(append(frames));
  ++block_;
  ring_.release(scanned_);
  for (StreamRows& s : streams_) {
    s.rows.clear();
    s.in_tail = 0;
  }
  texts_.clear();
  texts_in_tail_ = 0;
  if (!reports_.empty()) memory_->sealed_reports = first_report_ + reports_count_;
  reports_.clear();
  reports_count_ = reports_count_in_tail_ = 0;
  reports_in_tail_ = 0;
  fresh_tail_ = true;
  return {};
}

// The next tail starts with everything that is not sealed.
void Journal::forget_tail() {
  fresh_tail_ = true;
  sync_.is_tail_safe = false;
  for (StreamRows& s : streams_) s.in_tail = 0;
  texts_in_tail_ = 0;
  reports_in_tail_ = 0;
  reports_count_in_tail_ = 0;
}

Status Journal::write_tail() {
  if (writer_.vanished()) return Error("the run folder was removed: " + folder_);
  // Synced data stays safe: a tail on the disk is removed once the segment with its rows is synced.
  const bool may_go = !sync_.process.is_running() && (!sync_.is_tail_safe || is_synced());
  const bool replace = fresh_tail_ && (writer_.tail_fd() < 0 || may_go);
  if (replace) forget_tail();
  std::string frames;
  for (uint32_t s = 0; s < kMaxStreams; ++s) {
    if (streams_[s].in_tail < streams_[s].rows.size()) {
      encode_rows(frames, s, streams_[s].in_tail, ++tail_block_, false);
    }
  }
  frames += std::string_view(texts_).substr(texts_in_tail_);
  if (reports_in_tail_ < reports_.size()) {
    append_frame(frames, FrameType::step, 0,
                 fmt::format("{}\n{}", first_report_ + reports_count_in_tail_,
                             std::string_view(reports_).substr(reports_in_tail_)));
  }
  if (frames.empty()) return {};
  Status written = writer_.append_tail(frames, replace);
  if (!written) {
    forget_tail();
    return written;
  }
  if (replace) {
    fresh_tail_ = false;
    sync_.has_new_names = true;
  }
  for (StreamRows& s : streams_) s.in_tail = s.rows.size();
  texts_in_tail_ = texts_.size();
  reports_in_tail_ = reports_.size();
  reports_count_in_tail_ = reports_count_;
  memory_->bytes_written += writer_.bytes_written() - counted_bytes_;
  counted_bytes_ = writer_.bytes_written();
  return {};
}

// A segment to append to: the open one or a new one.
Status Journal::ensure_segment() {
  // A full one is closed when the disk has it, or when that takes for ever.
  const size_t most = is_synced() ? kSegmentBytes : 2 * kSegmentBytes;
  if (writer_.is_open() && !writer_.vanished() && writer_.segment_bytes() < most) return {};
  if (writer_.vanished() || !exists(folder_)) ::mkdir(folder_.c_str(), 0700);
  if (writer_.is_open()) sync_.running = sync_.waiting = {};
  TS_TRY(const uint32_t number,
         writer_.begin(memory_->next_segment, [this](uint32_t n) { return first_frames(n); }));
  memory_->next_segment = number + 1;
  is_manifest_written_ = false;
  sync_.has_new_names = true;
  return {};
}

// All that is still in force.
std::string Journal::first_frames(uint32_t segment) const {
  std::string frames;
  const Json head = {
      {"run", manifest_.id}, {"segment", segment}, {"incarnation", memory_->incarnation.load()}};
  append_frame(frames, FrameType::head, 0, dump_json(head));
  for (const auto& [schema, info] : schemas_) append_frame(frames, FrameType::schema, 0, info.json);
  if (!info_json_.empty()) append_frame(frames, FrameType::info, 0, info_json_);
  return frames;
}

std::string Journal::manifest_frame() const {
  std::string frame;
  append_frame(frame, FrameType::manifest, kFrameZstd,
               compress(manifest_to_json(with_zero(manifest_, *memory_)), kZstdLevel));
  return frame;
}

Status Journal::append(const std::string& frames) {
  TS_CHECK_OK(ensure_segment());
  // Not before t = 0 is known.
  const bool with_manifest = !is_manifest_written_ && has_time_begun(*memory_);
  const std::string all = rewrite_ + frames;
  Status written = writer_.append(with_manifest ? manifest_frame() + all : all);
  if (written) {
    is_manifest_written_ = is_manifest_written_ || with_manifest;
    rewrite_.clear();
    writer_.cut_abandoned();
    sync_.waiting.bytes += all;
    // A disk that takes nothing for long: more cannot be promised.
    if (sync_.waiting.bytes.size() > 2 * kMaxUnsyncedBytes) sync_.waiting = {"", false};
  } else if (!writer_.is_open()) {
    plan_rewrite(written.error().message());
  }
  memory_->bytes_written += writer_.bytes_written() - counted_bytes_;
  counted_bytes_ = writer_.bytes_written();
  return written;
}

Journal::Unsynced Journal::joined(Unsynced earlier, const Unsynced& later) {
  earlier.bytes += later.bytes;
  earlier.is_whole = earlier.is_whole && later.is_whole;
  return earlier;
}

// Everything, once a record has waited long enough for it, or a new tail waits for the segment.
void Journal::start_sync_if_due() {
  const bool due =
      sync_.waiting_since_ns != 0 && monotonic_ns() - sync_.waiting_since_ns >= sync_.pause_ns;
  const bool crowded =
      sync_.waiting.bytes.size() > kMaxUnsyncedBytes || (fresh_tail_ && sync_.is_tail_safe);
  if (sync_.has_begun && !due && (!crowded || sync_.pause_ns != kSyncNs)) return;
  SyncProcess::Request request;
  if (!sync_.waiting.is_empty()) request.segment_fd = writer_.segment_fd();
  if (!fresh_tail_) request.tail_fd = writer_.tail_fd();
  if (sync_.has_new_names) request.folder = folder_;
  request.is_first = !sync_.has_begun;
  if (sync_.process.is_running() || !sync_.process.start(request)) return;
  sync_.running = std::exchange(sync_.waiting, {});
  sync_.running_bytes = writer_.segment_bytes();
  sync_.includes_tail = request.tail_fd >= 0;
  sync_.waiting_since_ns = 0;
  sync_.has_new_names = false;
  sync_.has_begun = true;
}

// Records the result of the last sync. Data that it could not save is to be written again.
void Journal::take_sync_outcome() {
  const auto outcome = sync_.process.poll();
  const bool segment_failed = outcome == SyncProcess::Outcome::segment_failed;
  const bool tail_failed = outcome == SyncProcess::Outcome::tail_failed;
  if (outcome == SyncProcess::Outcome::unknown) {
    sync_.waiting = joined(std::move(sync_.running), sync_.waiting);
    sync_.has_new_names = true;
    if (sync_.waiting_since_ns == 0) sync_.waiting_since_ns = monotonic_ns();
  }
  if (outcome == SyncProcess::Outcome::done || tail_failed) {
    const bool had_segment = !sync_.running.is_empty();
    if (had_segment && writer_.is_open()) writer_.set_synced(sync_.running_bytes);
    sync_.pause_ns = kSyncNs;
    // The rows of a tail that was to be replaced are safe in the segment now.
    sync_.is_tail_safe = sync_.includes_tail;
  }
  // The rows are in the ring still: all of them go to a new file.
  if (tail_failed) forget_tail();
  if (segment_failed) plan_rewrite("a sync failed");
  if (outcome) sync_.running = {};
}

void Journal::append_storage_event(std::string& frames, const std::string& text) const {
  const Json event = {
      {"time_ns", monotonic_ns() - memory_->zero_ns}, {"kind", "storage"}, {"text", text}};
  append_frame(frames, FrameType::event, 0, dump_json(event));
}

// The kernel has dropped the data it could not write, and reports that once: these bytes are
// written to a new segment from memory, and the old one is never used again. If memory no longer
// has all of them, the old segment stays: the kernel's copy is more complete than ours.
void Journal::plan_rewrite(const std::string& reason) {
  sync_.pause_ns = std::min(2 * sync_.pause_ns, kMaxSyncPauseNs);
  const Unsynced lost = joined(std::exchange(sync_.running, {}), std::exchange(sync_.waiting, {}));
  const std::string old_name = writer_.path().substr(writer_.path().rfind('/') + 1);
  const std::string text =
      lost.is_whole
          ? fmt::format("{}: the last {} bytes of {} are written again to a new segment", reason,
                        lost.bytes.size(), old_name)
          : fmt::format("{}: {} may lack data written since its last sync", reason, old_name);
  if (lost.is_whole) rewrite_ = lost.bytes + rewrite_;
  append_storage_event(rewrite_, text);
  lost.is_whole ? writer_.abandon() : writer_.leave();
  if (sync_.waiting_since_ns == 0) sync_.waiting_since_ns = monotonic_ns();
}

}  // namespace trainscope
