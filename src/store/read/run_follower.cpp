#include "store/read/run_follower.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/json.h"
#include "store/read/event_list.h"
#include "store/read/files.h"
#include "store/read/reports.h"
#include "store/store.h"
#include "training/training.h"

namespace trainscope {

namespace {

constexpr size_t kMaxTailBytes = size_t{1} << 30;
constexpr const char* kPartName = "samples-0001.seg";

bool uses(const std::vector<uint64_t>& schemas, uint64_t number) {
  return std::find(schemas.begin(), schemas.end(), number) != schemas.end();
}

}  // namespace

RunFollower::RunFollower(std::string run_path, Followed followed, Footprint footprint)
    : path_(std::move(run_path)), followed_(followed), footprint_(footprint) {}
RunFollower::~RunFollower() = default;

Result<std::unique_ptr<RunView>> RunFollower::open() {
  TS_TRY(RunFiles files, load_run_files(path_, Extent::all, footprint_));
  manifest_ = files.manifest;
  status_ = files.status;
  tail_ = files.tail.bytes;
  for (const RunFile& segment : files.segments) {
    TS_TRY(read_bytes_[segment_number(segment.name).value_or(0)], learn(segment));
  }
  if (followed_ == Followed::samples) return view_run(std::move(files));
  TS_TRY(auto whole, view_run(std::move(files),
                              [this](const auto& frames, double duration_s, const auto& events) {
                                return begin_training(frames, duration_s, events);
                              }));
  (void)whole->training();  // now, because parts continue from here
  return whole;
}

Result<std::unique_ptr<RunView>> RunFollower::read_new() {
  TS_TRY(RunFiles files, read_part_files());
  if (files.segments.empty()) return std::unique_ptr<RunView>();
  if (followed_ == Followed::samples) return view_run(std::move(files));
  TS_TRY(auto part, view_run(std::move(files),
                             [this](const auto& frames, double duration_s, const auto& events) {
                               return add_training(frames, duration_s, events);
                             }));
  (void)part->training();  // now: what it holds is not in the next part
  if (followed_ == Followed::steps) return part;
  return view_whole();
}

// The run with the training that was followed. One that cannot be followed is read again; without
// any report that is no work.
Result<std::unique_ptr<RunView>> RunFollower::view_whole() {
  if (!has_steps_ && next_report_ > 0) return open();
  TS_TRY(RunFiles files, load_run_files(path_, Extent::all, footprint_));
  if (!has_steps_) return view_run(std::move(files));
  files.is_training_known = true;
  return view_run(std::move(files),
                  [training = training_](const auto&...) -> Result<Training> { return training; });
}

// A busy machine makes many gaps, and the training is not concerned by their events.
void RunFollower::add_events(std::span<const Event> events) {
  for (const Event& event : events) {
    if (event.kind == kGapEvent) continue;
    const bool is_known = std::any_of(events_.begin(), events_.end(), [&](const Event& known) {
      return known.time_s == event.time_s && known.kind == event.kind && known.text == event.text;
    });
    if (!is_known) events_.push_back(event);
  }
}

Result<Training> RunFollower::begin_training(std::span<const FramePlace> frames, double duration_s,
                                             std::span<const Event> events) {
  has_steps_ = false;
  events_.clear();
  add_events(events);
  TS_TRY(const auto reports, StoredReports::open(frames));
  next_report_ = reports->next_number();
  training_follower_ =
      follow_training(followed_ == Followed::steps ? StepsToFollow::fresh : StepsToFollow::all);
  TS_TRY(training_, training_follower_->begin(reports, duration_s, events_));
  unreadable_ = reports->unreadable();
  note_unreadable(unreadable_, training_);
  has_steps_ = true;
  return training_;
}

Result<Training> RunFollower::add_training(std::span<const FramePlace> frames, double duration_s,
                                           std::span<const Event> events) {
  add_events(events);
  if (!std::exchange(has_steps_, false)) return Training();
  TS_TRY(const auto reports, StoredReports::open(frames, next_report_));
  next_report_ = reports->next_number();
  TS_TRY(auto training, training_follower_->add(*reports, duration_s, events_));
  if (!training) return Training();
  unreadable_ += reports->unreadable();
  note_unreadable(unreadable_, *training);
  has_steps_ = true;
  training_ = std::move(*training);
  return training_;
}

// What was added since the last call, or no files.
Result<RunFiles> RunFollower::read_part_files() {
  // In this order: what the manifest says of the end is true of the files that are read afterwards,
  // and a block that is sealed between the next two is read twice rather than missed.
  update_manifest();
  TS_TRY(std::string tail, read_tail());
  RunFiles files;
  RunFile part{kPartName, file_header() + carried(), nullptr};
  const size_t carried_bytes = part.bytes.size();
  TS_CHECK_OK(read_segments(part.bytes));
  const bool is_same = part.bytes.size() == carried_bytes && tail == tail_;
  // Files that grow have a recorder; on another host it takes a file of our own to see whether they
  // are old.
  if (status_ == RunStatus::running && is_same) status_ = run_status(path_, manifest_);
  if (is_same) return files;
  tail_ = tail;
  files.path = path_;
  files.manifest = manifest_;
  files.status = status_;
  files.segments.push_back(std::move(part));
  if (!tail.empty()) files.tail = RunFile{"tail", std::move(tail), nullptr};
  return files;
}

// One that cannot be read is replaced soon, or the end of the run is seen by its silence.
void RunFollower::update_manifest() {
  auto manifest = read_manifest(path_);
  if (!manifest) return;
  manifest_ = std::move(*manifest);
  if (!manifest_.ended.empty()) status_ = RunStatus::ended;
}

// Empty if there is none: all of it is sealed.
Result<std::string> RunFollower::read_tail() const {
  auto tail = read_regular_file(path_ + "/tail", kMaxTailBytes);
  if (!tail && tail.error().error_number() == ENOENT) return std::string();
  return tail;
}

Status RunFollower::read_segments(std::string& bytes) {
  TS_TRY(const std::vector<std::string> names, list_folder(path_));
  std::map<int, std::string> found;
  for (const std::string& name : names) {
    if (const auto number = segment_number(name)) found.emplace(*number, name);
  }
  // Only the last segment grows.
  const int last = read_bytes_.empty() ? 0 : read_bytes_.rbegin()->first;
  for (auto each = found.lower_bound(last); each != found.end(); ++each) {
    const std::string path = path_ + "/" + each->second;
    size_t& read = read_bytes_.emplace(each->first, kFileHeaderBytes).first->second;
    TS_TRY(const UniqueFd fd, open_regular_file(path));
    TS_TRY(const size_t size, file_size(fd, path));
    if (size <= read) continue;
    RunFile more{each->second, file_header(), nullptr};
    TS_CHECK_OK(read_part(fd, path, read, size - read, more.bytes, kFileHeaderBytes));
    TS_TRY(const size_t end, learn(more));
    bytes.append(more.bytes, kFileHeaderBytes, end - kFileHeaderBytes);
    read += end - kFileHeaderBytes;
  }
  return {};
}

Result<size_t> RunFollower::learn(const RunFile& file) {
  if (file.size() <= kFileHeaderBytes) return kFileHeaderBytes;
  size_t end = file.size();
  const FrameVisitor visitor = {[&](const Frame& frame) -> Status {
                                  learn_frame(frame);
                                  return {};
                                },
                                [&](const Damage& damage) {
                                  // It may only not have arrived yet.
                                  if (damage.to >= file.size()) end = damage.from;
                                }};
  TS_TRY(const size_t torn_at, visit_frames(file.frames(), visitor));
  return torn_at == 0 ? end : torn_at;
}

void RunFollower::learn_frame(const Frame& frame) {
  if (frame.type == FrameType::schema) {
    const auto number = integer_field(parse_json(frame.payload), "schema");
    if (!number) return;
    KnownSchema& known = schemas_[static_cast<uint64_t>(*number)];
    if (known.text != frame.payload) known = {std::string(frame.payload), false};
  } else if (frame.type == FrameType::info) {
    host_json_ = frame.payload;
  } else if (frame.type == FrameType::times) {
    const auto times = decode_times(frame.payload);
    if (!times) return;
    stream_ = times->stream;
    blocks_[stream_] = {};
    append_frame(blocks_[stream_].frames, frame.type, frame.flags, frame.payload);
  } else if (frame.type == FrameType::columns) {
    const auto number = peek_schema(frame.payload);
    const auto block = blocks_.find(stream_);
    if (!number || block == blocks_.end()) return;
    append_frame(block->second.frames, frame.type, frame.flags, frame.payload);
    block->second.schemas.push_back(*number);
    schemas_[*number].is_used = true;
  }
}

// The schemas in force: those of the last blocks, and those of rows that are in the tail only.
std::string RunFollower::carried() const {
  std::string frames;
  for (const auto& [number, schema] : schemas_) {
    const bool is_in_force =
        !schema.is_used ||
        std::any_of(blocks_.begin(), blocks_.end(), [&, number = number](const auto& each) {
          return uses(each.second.schemas, number);
        });
    if (is_in_force && !schema.text.empty())
      append_frame(frames, FrameType::schema, 0, schema.text);
  }
  if (!host_json_.empty()) append_frame(frames, FrameType::info, 0, host_json_);
  for (const auto& [stream, block] : blocks_) frames += block.frames;
  return frames;
}

}  // namespace trainscope
