#include "record/intake/event_file_search.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <memory>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr std::string_view kMark = "tfevents";
constexpr size_t kEntriesBetween = 256;  // a millisecond, if no disk is waited for
constexpr int64_t kSoonest = kNsPerSecond / 2, kLatest = 10 * kNsPerSecond;
constexpr int64_t kPauses = 500;  // 0.2 % of a core

bool is_event_file(std::string_view path) {
  return path.find(kMark, path.rfind('/') + 1) != std::string_view::npos;  // npos + 1 is 0
}

int64_t written_ns(const struct stat& st) {
  return int64_t{st.st_mtim.tv_sec} * kNsPerSecond + st.st_mtim.tv_nsec;
}

std::optional<FoundEventFile> look_at(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return std::nullopt;
  return FoundEventFile{path, st.st_dev, st.st_ino, written_ns(st), st.st_size};
}

}  // namespace

// Creating an entry updates the time of a folder: the newest folder first leads to the latest run,
// however many others are next to it.
void EventFileSearch::search_folder(const std::string& folder, size_t max_entries) {
  const auto begin = static_cast<std::ptrdiff_t>(found.size());
  std::priority_queue<std::pair<int64_t, std::string>> folders;
  folders.emplace(0, folder);
  size_t seen = 0;
  while (!folders.empty() && seen < max_entries) {
    std::error_code failed;
    std::filesystem::directory_iterator it(folders.top().second, failed);
    folders.pop();
    const std::filesystem::directory_iterator end;
    for (; !failed && it != end && seen < max_entries; it.increment(failed), ++seen) {
      was_left = seen % kEntriesBetween == 0 && may_go_on && !may_go_on();
      if (was_left) return;
      std::error_code gone;
      if (it->symlink_status(gone).type() == std::filesystem::file_type::directory) {
        struct stat st {};
        if (::stat(it->path().c_str(), &st) == 0) folders.emplace(written_ns(st), it->path());
      } else if (is_event_file(it->path().native())) {
        if (auto file = look_at(it->path())) found.push_back(std::move(*file));
      }
    }
    is_complete = is_complete && (failed || it == end);
  }
  is_complete = is_complete && folders.empty();
  std::stable_sort(found.begin() + begin, found.end(),
                   [](const auto& a, const auto& b) { return a.written_ns > b.written_ns; });
}

// Of every open file, so nothing is allocated for those that are something else.
void EventFileSearch::search_process(pid_t pid) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      ::opendir(fmt::format("/proc/{}/fd", pid).c_str()), ::closedir);
  if (folder == nullptr) return;
  std::array<char, PATH_MAX> target{};
  while (const dirent* entry = ::readdir(folder.get())) {
    const ssize_t length =
        ::readlinkat(::dirfd(folder.get()), entry->d_name, target.data(), target.size());
    const std::string_view path(target.data(), std::max<ssize_t>(length, 0));
    if (!is_event_file(path)) continue;
    if (auto file = look_at(std::string(path))) found.push_back(std::move(*file));
  }
}

void SearchSchedule::searched(int64_t now_ns, int64_t since_zero_ns, int64_t cost_ns) {
  next_ns_ = now_ns + std::max(std::clamp(since_zero_ns / 2, kSoonest, kLatest),
                               std::min(kPauses * cost_ns, latest_for_cost_ns_));
}

}  // namespace trainscope
