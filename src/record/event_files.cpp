#include "record/event_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "record/event_report.h"
#include "tfrecord/tfrecord.h"

namespace trainscope {

namespace {

constexpr std::string_view kMark = "tfevents";
constexpr uint64_t kMaxRecordBytes = uint64_t{4} << 20;
constexpr size_t kMaxFiles = 64, kMaxFound = 10'000;
// Between the job's writing down the time and our t = 0.
constexpr int64_t kTolerance = kNsPerSecond;

bool is_event_file(std::string_view path) {
  const size_t slash = path.rfind('/');
  return path.substr(slash == std::string_view::npos ? 0 : slash + 1).find(kMark) !=
         std::string_view::npos;
}

}  // namespace

void EventFiles::find(const std::vector<pid_t>& processes, int64_t zero_realtime_ns) {
  for (const std::string& folder : folders_) find_in_folder(folder, zero_realtime_ns);
  for (const pid_t pid : processes) find_in_process(pid);
}

void EventFiles::find_in_folder(const std::string& folder, int64_t zero_realtime_ns) {
  std::error_code failed;
  std::filesystem::recursive_directory_iterator it(
      folder, std::filesystem::directory_options::skip_permission_denied, failed);
  const std::filesystem::recursive_directory_iterator end;
  for (size_t seen = 0; !failed && it != end && seen < kMaxFound; it.increment(failed), ++seen) {
    if (!is_event_file(it->path().native())) continue;
    struct stat st {};
    const bool known = ::stat(it->path().c_str(), &st) == 0;
    const int64_t written_ns = int64_t{st.st_mtim.tv_sec} * kNsPerSecond + st.st_mtim.tv_nsec;
    if (known && written_ns >= zero_realtime_ns - kTolerance) add(it->path());
  }
}

void EventFiles::find_in_process(pid_t pid) {
  std::error_code failed;
  std::filesystem::directory_iterator it(fmt::format("/proc/{}/fd", pid), failed);
  const std::filesystem::directory_iterator end;
  for (; !failed && it != end; it.increment(failed)) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(it->path(), gone);
    if (!gone && is_event_file(target.native())) add(target);
  }
}

void EventFiles::add(const std::string& path) {
  struct stat st {};
  if (files_.size() >= kMaxFiles || ::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return;
  const std::string key = fmt::format("{}:{}", st.st_dev, st.st_ino);
  if (files_.contains(key)) return;
  auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return;
  File file;
  file.path = path;
  file.folder = std::filesystem::path(path).parent_path().filename();
  file.fd = std::move(*fd);
  files_.emplace(key, std::move(file));
}

void EventFiles::read(const Clock& clock) {
  for (auto& [key, file] : files_) {
    if (!file.is_damaged) read_file(file, clock);
  }
}

void EventFiles::read_file(File& file, const Clock& clock) {
  std::vector<char> bytes(65536);
  ProgressSink::Batch batch;
  while (sink_.has_room()) {  // the rest is taken when there is
    const ssize_t n = ::pread(file.fd.get(), bytes.data(), bytes.size(), file.offset);
    if (n <= 0) break;
    file.offset += n;
    std::string_view rest(bytes.data(), static_cast<size_t>(n));
    const size_t skipped = std::min<uint64_t>(rest.size(), file.to_skip);
    file.to_skip -= skipped;
    rest.remove_prefix(skipped);
    file.unread += rest;
    take_records(file, clock, batch);
    sink_.push(std::exchange(batch, {}));
    if (file.is_damaged) break;
  }
}

void EventFiles::take_records(File& file, const Clock& clock, ProgressSink::Batch& batch) {
  std::string_view rest = file.unread;
  for (;;) {
    const TfRecord record = look_at_tf_record(rest);
    if (record.look == TfLook::damaged) {
      file.is_damaged = true;
      tell_(fmt::format("{}: damaged at offset {}; what follows is not read", file.path,
                        file.offset - static_cast<off_t>(rest.size())));
      break;
    }
    if (record.look == TfLook::incomplete) {
      if (rest.size() >= kTfHeaderBytes && record.length > kMaxRecordBytes) {
        file.to_skip = record.bytes() - rest.size();
        rest = {};
      }
      break;
    }
    take_event(file, record.data, clock, batch);
    rest.remove_prefix(record.bytes());
  }
  file.unread.erase(0, file.unread.size() - rest.size());
}

void EventFiles::take_event(const File& file, std::string_view data, const Clock& clock,
                            ProgressSink::Batch& batch) {
  const auto event = parse_scalar_event(data);
  if (!event || event->scalars.empty() || !std::isfinite(event->wall_time_s)) return;
  const double since_zero_s = event->wall_time_s - to_seconds(clock.zero_realtime_ns);
  if (since_zero_s < -to_seconds(kTolerance)) return;  // of an earlier training
  const bool ahead = since_zero_s > to_seconds(clock.since_zero_ns + kTolerance);
  const int64_t time_ns =
      ahead ? clock.since_zero_ns : std::max<int64_t>(0, std::llround(since_zero_s * 1e9));
  for (const EventScalar& scalar : event->scalars) {
    auto report = report_of_event(file.folder, scalar.tag, event->step, scalar.value);
    if (report) batch.add(time_ns, "tensorboard", std::move(*report));
  }
}

}  // namespace trainscope
