#include "record/intake/event_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/clock.h"
#include "base/text.h"
#include "record/intake/event_report.h"

namespace trainscope {

namespace {

constexpr uint64_t kMaxRecordBytes = uint64_t{4} << 20;
constexpr size_t kFilesBetween = 256;
// Seconds. The difference of two such dates fits into an int64_t of nanoseconds.
constexpr double kMaxDate = 4e9;

}  // namespace

void EventFiles::report_once(const std::string& text) {
  if (reported_.insert(text).second) event_sink_(text);
}

void EventFiles::find_open(const std::vector<pid_t>& processes, int64_t zero_realtime_ns) {
  EventFileSearch search;
  for (const pid_t pid : processes) search.search_process(pid);
  for (const FoundEventFile& found : search.found) consider(found, zero_realtime_ns);
}

void EventFiles::find_in_folders(int64_t zero_realtime_ns, const std::function<bool()>& may_go_on) {
  std::vector<FoundEventFile> all;
  for (const std::string& folder : folders_) {
    EventFileSearch below;
    below.may_go_on = may_go_on;
    below.search_folder(folder, max_entries_);
    if (below.was_left) return;
    std::move(below.found.begin(), below.found.end(), std::back_inserter(all));
    if (below.is_complete) continue;
    knows_earlier_ = knows_earlier_ && has_searched_;
    report_once(
        fmt::format("{}: more than {} entries; event files in the oldest folders are skipped",
                    printable(folder), max_entries_));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % kFilesBetween == 0 && may_go_on && !may_go_on()) return;
    consider(all[i], zero_realtime_ns);
  }
  has_searched_ = true;
}

void EventFiles::finish(const std::vector<pid_t>& processes, const Clock& clock) {
  read(clock);
  find_open(processes, clock.zero_realtime_ns);
  find_in_folders(clock.zero_realtime_ns);
  read(clock);
  report_undecided();
}

void EventFiles::consider(const FoundEventFile& found, int64_t zero_realtime_ns) {
  const Key key(found.device, found.inode);
  if (files_.contains(key)) return;
  SharedEventFile* memory = remembered(key);
  const auto earlier = earlier_.find(key);
  const bool was_there = !has_searched_ || earlier != earlier_.end();
  const bool has_grown = earlier != earlier_.end() && earlier->second != found.size;
  const bool is_new = !was_there && knows_earlier_;
  const bool is_recent = found.written_ns >= zero_realtime_ns - kEventClockToleranceNs;
  if (!has_searched_) earlier_.emplace(key, found.size);
  if (memory == nullptr && !has_grown && !is_new && !is_recent) return;
  if (files_.size() >= kMaxEventFiles) {
    report_once(fmt::format("more than {} event files: the oldest are skipped", kMaxEventFiles));
    return;
  }
  const off_t size_then = earlier != earlier_.end() ? earlier->second : found.size;
  const bool is_written_anew = !was_there || found.size < size_then;
  const off_t earlier_bytes = is_written_anew ? 0 : size_then;
  const bool is_known = was_there || knows_earlier_;
  add(found, {earlier_bytes, is_known ? earlier_bytes : found.size}, memory);
}

void EventFiles::add(const FoundEventFile& found, const Age& age, SharedEventFile* memory) {
  auto fd = open_file(found.path, O_RDONLY | O_NONBLOCK);
  if (!fd) return;
  File file;
  file.key = {found.device, found.inode};
  file.path = found.path;
  file.folder = std::filesystem::path(found.path).parent_path().filename();
  file.fd = std::move(*fd);
  file.age = age;
  if (memory != nullptr) {
    file.memory = memory;
    file.is_own = true;
    file.offset = memory->offset;
    file.clock = EventClock(memory->shift_ns);
  }
  const Key key = file.key;
  files_.emplace(key, std::move(file));
}

SharedEventFile* EventFiles::remembered(const Key& key) const {
  for (SharedEventFile& slot : memory_->event_files) {
    if (slot.inode == key.second && slot.device == key.first && slot.inode != 0) return &slot;
  }
  return nullptr;
}

// How far a recorder after this one need not read again.
void EventFiles::remember(File& file) {
  if (!file.is_own) return;
  for (SharedEventFile& slot : memory_->event_files) {
    if (file.memory != nullptr) break;
    if (slot.inode == 0) file.memory = &slot;
  }
  if (file.memory == nullptr) return;
  file.memory->offset =
      file.offset + static_cast<off_t>(file.to_skip) - static_cast<off_t>(file.unread.size());
  file.memory->shift_ns = file.clock.shift_ns();
  file.memory->device = file.key.first;
  file.memory->inode = file.key.second;
}

void EventFiles::read(const Clock& clock) {
  for (auto& [key, file] : files_) {
    if (!file.is_damaged) read_file(file, clock);
  }
}

void EventFiles::read_file(File& file, const Clock& clock) {
  file.undecided_ns.reset();
  read_new(file, clock);
  const bool is_live = !file.is_own && file.undecided_ns &&
                       file.writer.is_live(*file.undecided_ns, clock.since_zero_ns);
  if (!is_live) return;
  // The file belongs to this training from its first byte, on another clock.
  file.is_own = true;
  file.clock.set(*file.undecided_ns, clock.since_zero_ns);
  file.offset = file.age.earlier_bytes;
  file.unread.clear();
  file.to_skip = 0;
  read_new(file, clock);
}

void EventFiles::read_new(File& file, const Clock& clock) {
  std::vector<char> bytes(65536);
  while (sink_.has_room() && !file.is_damaged) {  // the rest is taken once there is space
    const ssize_t n = ::pread(file.fd.get(), bytes.data(), bytes.size(), file.offset);
    if (n <= 0) break;
    file.offset += n;
    std::string_view rest(bytes.data(), static_cast<size_t>(n));
    const size_t skipped = std::min<uint64_t>(rest.size(), file.to_skip);
    file.to_skip -= skipped;
    rest.remove_prefix(skipped);
    file.unread += rest;
    take_events(file, take_records(file, clock.zero_realtime_ns), clock.since_zero_ns);
    remember(file);
  }
}

std::vector<EventFiles::Event> EventFiles::take_records(File& file, int64_t zero_realtime_ns) {
  std::vector<Event> events;
  std::string_view rest = file.unread;
  for (;;) {
    const TfRecord record = look_at_tf_record(rest);
    const off_t offset = file.offset - static_cast<off_t>(rest.size());
    if (record.look == TfLook::damaged) {
      file.is_damaged = true;
      report_once(fmt::format("{}: damaged at offset {}; the rest is skipped", printable(file.path),
                              offset));
      break;
    }
    if (record.look == TfLook::incomplete) {
      if (rest.size() >= kTfHeaderBytes && record.length > kMaxRecordBytes) {
        file.to_skip = record.bytes() - rest.size();
        rest = {};
      }
      break;
    }
    auto event = parse_scalar_event(record.data);
    rest.remove_prefix(record.bytes());
    if (!event || event->scalars.empty()) continue;
    const double since_zero_s = event->wall_time_s - to_seconds(zero_realtime_ns);
    if (!(std::abs(since_zero_s) < kMaxDate)) {  // or not a number
      report_once(fmt::format("{}: events without a valid date are skipped", printable(file.path)));
      continue;
    }
    events.push_back({offset, std::llround(since_zero_s * 1e9), std::move(*event)});
  }
  file.unread.erase(0, file.unread.size() - rest.size());
  return events;
}

void EventFiles::take_events(File& file, const std::vector<Event>& events, int64_t now_ns) {
  std::vector<const Event*> own;
  std::vector<int64_t> dates_ns;
  for (const Event& event : events) {
    const bool has_come_since = event.offset >= file.age.earlier_bytes;
    // Only this training appends to the file of an earlier one.
    const bool is_appended = has_come_since && file.age.earlier_bytes > 0;
    // The job began after t = 0; a training that ended just before it has left its last second.
    const bool may_be_earlier = event.offset < file.age.doubtful_bytes;
    if (event.date_ns >= (may_be_earlier ? 0 : -kEventClockToleranceNs) || is_appended)
      file.is_own = true;
    if (file.is_own) {
      own.push_back(&event);
      dates_ns.push_back(event.date_ns);
    } else if (has_come_since) {
      file.undecided_ns = std::max(event.date_ns, file.undecided_ns.value_or(event.date_ns));
    }
  }
  const std::vector<int64_t> times_ns = file.clock.place(dates_ns, now_ns);
  if (std::abs(file.clock.shift_ns()) > kEventClockToleranceNs) {
    report_once(
        fmt::format("{}: written with another host's clock, or the clock was set during "
                    "the run; timestamps are estimated from when the events were read",
                    printable(file.path)));
  }
  ProgressSink::Batch batch;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i]->scalars.step > kMaxReportNumber) {
      values_left_out_ += static_cast<int64_t>(own[i]->scalars.scalars.size());
      continue;
    }
    for (const EventScalar& scalar : own[i]->scalars.scalars) {
      auto report = report_of_event(file.folder, scalar.tag, own[i]->scalars.step, scalar.value);
      if (report) batch.add(times_ns[i], kEventFiles, std::move(*report));
    }
  }
  sink_.push(batch);
}

void EventFiles::report_undecided() {
  for (const auto& [key, file] : files_) {
    if (file.is_own || !file.writer.has_seen_events()) continue;
    report_once(
        fmt::format("{}: skipped; its events are older than this run, and the file did not "
                    "grow: it belongs to an earlier training, or its writer uses "
                    "another clock",
                    printable(file.path)));
  }
}

}  // namespace trainscope
