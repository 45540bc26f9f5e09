#include "web/opened_runs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/clock.h"
#include "base/fd.h"

namespace trainscope {

namespace {

// The folder of a run has its id as name, perhaps with something after it.
bool is_folder_of(const std::string& name, const std::string& id) {
  if (!name.starts_with(id)) return false;
  return name.size() == id.size() || name[id.size()] == '-' || name[id.size()] == '.';
}

}  // namespace

std::string manifest_version(const std::string& path) {
  struct stat found {};
  if (::stat((path + "/manifest.json").c_str(), &found) != 0) return "";
  return fmt::format("{} {}.{:09}", found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

int64_t pause_after_reading_ns(int64_t cpu_ns) {
  constexpr int64_t kPausePerCpuTime = 19;
  return std::max(kNsPerSecond, kPausePerCpuTime * cpu_ns);
}

OpenedRuns::OpenedRuns(std::string home, std::map<std::string, std::string> named)
    : home_(std::move(home)), named_(std::move(named)) {}

// Files are looked at without the lock: a disk that hangs must hold nobody who asks for another.
std::optional<std::string> OpenedRuns::find(const std::string& id) {
  if (const auto named = named_.find(id); named != named_.end()) return named->second;
  constexpr size_t kIdBytes = 10;  // of any run
  if (id.size() != kIdBytes) return std::nullopt;
  if (auto known = known_path(id); known && exists(*known)) return known;
  // Usually the id is all of the name: with many runs, listing them takes long.
  std::vector<std::string> names = {id};
  if (!exists(home_ + "/" + id)) names = names_in(home_);
  for (const std::string& name : names) {
    if (!is_folder_of(name, id)) continue;
    std::string path = home_ + "/" + name;
    if (list_run(path).manifest.id != id) continue;
    const std::lock_guard lock(mutex_);
    paths_[id] = path;
    return path;
  }
  return std::nullopt;
}

std::optional<std::string> OpenedRuns::known_path(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto known = paths_.find(id);
  return known == paths_.end() ? std::nullopt : std::optional(known->second);
}

bool OpenedRuns::is_current(const Reading& reading, const std::string& path) {
  if (reading.run == nullptr) return false;
  if (reading.run->status() == RunStatus::running) return monotonic_ns() < reading.due_ns;
  return reading.manifest == manifest_version(path);
}

std::shared_ptr<OpenedRuns::Entry> OpenedRuns::entry_of(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& each) { return each.first == id; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    entries_.emplace_front(id, std::make_shared<Entry>());
    if (entries_.size() > kMostOpen) entries_.pop_back();
  }
  return entries_.front().second;
}

// What is new is added to what was read before.
Result<OpenedRuns::Run> OpenedRuns::read_samples(Entry& entry, const std::string& path) {
  if (entry.follower == nullptr) {
    entry.follower = std::make_unique<RunFollower>(path, Followed::run, Footprint::small);
    TS_TRY(std::unique_ptr<RunView> run, entry.follower->open());
    return Run(std::move(run));
  }
  TS_TRY(std::unique_ptr<RunView> run, entry.follower->read_new());
  if (run != nullptr) return Run(std::move(run));
  if (entry.follower->is_running()) return entry.samples.run;  // nothing is new
  TS_TRY(run, open_run(path, Footprint::small));
  return Run(std::move(run));
}

Result<OpenedRuns::Run> OpenedRuns::open(const std::string& id, const std::string& path,
                                         Wanted wanted) {
  const std::shared_ptr<Entry> entry = entry_of(id);
  const std::lock_guard lock(entry->mutex);
  Reading& reading = wanted == Wanted::samples ? entry->samples : entry->reports;
  // Of a run that has ended both are the same, also if one was read shortly before the end.
  bool has_ended = false;
  for (const Reading* const other : {&entry->samples, &entry->reports}) {
    if (other->run == nullptr || other->run->status() == RunStatus::running) continue;
    has_ended = true;
    if (is_current(*other, path)) {
      reading = *other;
      entry->follower.reset();
      return reading.run;
    }
  }
  // The manifest may have been replaced while the end was read, or since: nobody who was told of
  // the end gets a running run.
  if (!has_ended && is_current(reading, path)) return reading.run;
  const int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const std::string manifest = manifest_version(path);  // before it is read
  const bool is_running = list_run(path).status == RunStatus::running;
  if (wanted == Wanted::samples && is_running) {
    TS_TRY(reading.run, read_samples(*entry, path));
  } else {
    TS_TRY(std::unique_ptr<RunView> run, open_run(path, Footprint::small));
    reading.run = std::move(run);
  }
  reading.manifest = manifest;
  const int64_t used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
  reading.due_ns = monotonic_ns() + pause_after_reading_ns(used_ns);
  return reading.run;
}

Result<std::shared_ptr<const OutputIndex>> OpenedRuns::output(const std::string& id,
                                                              const Run& run) {
  const std::shared_ptr<Entry> entry = entry_of(id);
  const std::lock_guard lock(entry->mutex);
  if (entry->output == nullptr || entry->output_of != run) {
    TS_TRY(OutputIndex index, OutputIndex::read(*run));
    entry->output = std::make_shared<const OutputIndex>(std::move(index));
    entry->output_of = run;
  }
  return entry->output;
}

}  // namespace trainscope
