#include "record/sample/journal.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "format/format.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr int kZstdLevel = 3;
constexpr size_t kSegmentBytes = size_t{64} << 20;
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

Journal::Journal(Ring& ring, SharedMemory memory, std::string run_folder, Manifest manifest)
    : ring_(ring),
      memory_(memory),
      folder_(std::move(run_folder)),
      manifest_(std::move(manifest)),
      writer_(folder_),
      scanned_(ring.tail()) {
  // Rows of an earlier recorder that are still in the ring are made of the layouts it left.
  for (size_t s = 0; s < kMaxStreams; ++s) streams_[s].layout = memory_->layouts[s];
}

Status Journal::flush() {
  TS_CHECK_OK(finish_sync());
  TS_CHECK_OK(drain());
  const bool crowded = ring_.head() - ring_.tail() > ring_.capacity() / 2;
  const bool full = crowded || streams_[0].rows.size() >= kBlockRows;
  TS_CHECK_OK(full ? seal_block() : write_tail());
  start_sync_if_due();
  return {};
}

Status Journal::close() {
  TS_CHECK_OK(finish_sync());
  TS_CHECK_OK(drain());
  return seal_block();
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
    if (!at_schema) return {};
    TS_CHECK_OK(seal_block());
    TS_CHECK_OK(take_schemas());
  }
}

void Journal::take(const RecordHeader& header) {
  if (unsynced_since_ns_ == 0) unsynced_since_ns_ = monotonic_ns();
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
        static_cast<uint64_t>(reports_count_) <= kReportsPerByte * packed.size();
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
  is_tail_safe_ = false;
  for (StreamRows& s : streams_) s.in_tail = 0;
  texts_in_tail_ = 0;
  reports_in_tail_ = 0;
  reports_count_in_tail_ = 0;
}

Status Journal::write_tail() {
  if (writer_.vanished()) return Error("the run folder was removed: " + folder_);
  // Synced data stays safe: a tail on the disk is removed once the segment with its rows is synced.
  const bool may_go = !sync_.is_running() && (!is_tail_safe_ || is_synced());
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
    has_new_names_ = true;
  }
  for (StreamRows& s : streams_) s.in_tail = s.rows.size();
  texts_in_tail_ = texts_.size();
  reports_in_tail_ = reports_.size();
  reports_count_in_tail_ = reports_count_;
  memory_->bytes_written += writer_.bytes_written() - counted_bytes_;
  counted_bytes_ = writer_.bytes_written();
  return {};
}

// A segment to append to: the open one, or a new one that begins with all that is still in force.
Status Journal::ensure_segment() {
  // A full one is closed when the disk has it, or when that takes for ever.
  const size_t most = is_synced() ? kSegmentBytes : 2 * kSegmentBytes;
  if (writer_.is_open() && !writer_.vanished() && writer_.segment_bytes() < most) return {};
  if (writer_.vanished() || !exists(folder_)) ::mkdir(folder_.c_str(), 0700);
  if (writer_.is_open()) {
    syncing_.clear();
    unsynced_.clear();
    is_syncing_whole_ = is_unsynced_whole_ = true;
  }
  TS_TRY(const uint32_t number, writer_.begin(memory_->next_segment));
  memory_->next_segment = number + 1;
  is_manifest_written_ = false;
  has_new_names_ = true;
  std::string frames;
  const Json head = {
      {"run", manifest_.id}, {"segment", number}, {"incarnation", memory_->incarnation.load()}};
  append_frame(frames, FrameType::head, 0, dump_json(head));
  for (const auto& [schema, info] : schemas_) append_frame(frames, FrameType::schema, 0, info.json);
  if (!info_json_.empty()) append_frame(frames, FrameType::info, 0, info_json_);
  return writer_.append(frames);
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
    unsynced_ += all;
    // A disk that takes nothing for long: more cannot be promised.
    if (unsynced_.size() > 2 * kMaxUnsyncedBytes) {
      unsynced_.clear();
      is_unsynced_whole_ = false;
    }
  } else if (!writer_.is_open()) {
    plan_rewrite(written.error().message());
  }
  memory_->bytes_written += writer_.bytes_written() - counted_bytes_;
  counted_bytes_ = writer_.bytes_written();
  return written;
}

// Everything, once a record has waited long enough for it, or a new tail waits for the segment.
void Journal::start_sync_if_due() {
  const bool due = unsynced_since_ns_ != 0 && monotonic_ns() - unsynced_since_ns_ >= sync_pause_ns_;
  const bool crowded = unsynced_.size() > kMaxUnsyncedBytes || (fresh_tail_ && is_tail_safe_);
  if (has_synced_ && !due && (!crowded || sync_pause_ns_ != kSyncNs)) return;
  SyncProcess::Request request;
  if (!unsynced_.empty() || !is_unsynced_whole_) request.segment_fd = writer_.segment_fd();
  if (!fresh_tail_) request.tail_fd = writer_.tail_fd();
  if (has_new_names_) request.folder = folder_;
  request.is_first = !has_synced_;
  if (sync_.is_running() || !sync_.start(request)) return;
  syncing_ = std::exchange(unsynced_, {});
  is_syncing_whole_ = std::exchange(is_unsynced_whole_, true);
  syncing_bytes_ = writer_.segment_bytes();
  is_tail_syncing_ = request.tail_fd >= 0;
  unsynced_since_ns_ = 0;
  has_new_names_ = false;
  has_synced_ = true;
}

// Records the result of the last sync, and writes again what it could not save.
Status Journal::finish_sync() {
  const auto outcome = sync_.poll();
  const bool segment_failed = outcome == SyncProcess::Outcome::segment_failed;
  const bool tail_failed = outcome == SyncProcess::Outcome::tail_failed;
  if (outcome == SyncProcess::Outcome::unknown) {
    unsynced_ = syncing_ + unsynced_;
    is_unsynced_whole_ = is_unsynced_whole_ && is_syncing_whole_;
    has_new_names_ = true;
    if (unsynced_since_ns_ == 0) unsynced_since_ns_ = monotonic_ns();
  }
  if (outcome == SyncProcess::Outcome::done || tail_failed) {
    const bool had_segment = !syncing_.empty() || !is_syncing_whole_;
    if (had_segment && writer_.is_open()) writer_.set_synced(syncing_bytes_);
    sync_pause_ns_ = kSyncNs;
    // The rows of a tail that was to be replaced are safe in the segment now.
    is_tail_safe_ = is_tail_syncing_;
  }
  // The rows are in the ring still: all of them go to a new file.
  if (tail_failed) forget_tail();
  if (segment_failed) plan_rewrite("a sync failed");
  if (outcome) {
    syncing_.clear();
    is_syncing_whole_ = true;
  }
  return rewrite_.empty() ? Status() : append("");
}

// The kernel has dropped the data it could not write, and reports that once: these bytes are
// written to a new segment from memory, and the old one is never used again. If memory no longer
// has all of them, the old segment stays: the kernel's copy is more complete than ours.
void Journal::plan_rewrite(const std::string& reason) {
  sync_pause_ns_ = std::min(2 * sync_pause_ns_, kMaxSyncPauseNs);
  const bool has_all = std::exchange(is_syncing_whole_, true) && is_unsynced_whole_;
  is_unsynced_whole_ = true;
  const std::string kept = std::exchange(syncing_, {}) + std::exchange(unsynced_, {});
  const std::string old_name = writer_.path().substr(writer_.path().rfind('/') + 1);
  const std::string text =
      has_all ? fmt::format("{}: the last {} bytes of {} are written again to a new segment",
                            reason, kept.size(), old_name)
              : fmt::format("{}: {} may lack data written since its last sync", reason, old_name);
  const Json event = {
      {"time_ns", monotonic_ns() - memory_->zero_ns}, {"kind", "storage"}, {"text", text}};
  if (has_all) rewrite_ = kept + rewrite_;
  append_frame(rewrite_, FrameType::event, 0, dump_json(event));
  has_all ? writer_.abandon() : writer_.leave();
  if (unsynced_since_ns_ == 0) unsynced_since_ns_ = monotonic_ns();
}

}  // namespace trainscope
