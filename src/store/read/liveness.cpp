#include "store/read/liveness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/fd.h"
#include "kernel/host_name.h"
#include "kernel/process_handle.h"

namespace trainscope {

namespace {

// NFS: a client caches what it writes for up to 30 s and what it has read for 60 s, and a server
// may not respond for minutes.
constexpr int64_t kForeignQuietNs = 300 * kNsPerSecond;
// `tail` is appended each second, and this kernel sees it at once.
constexpr int64_t kLocalQuietNs = 3 * kNsPerSecond;
// No two clocks of a cluster are further apart.
constexpr int64_t kMaxSkewNs = 86'400 * kNsPerSecond;

// Supervisor and recorder have the pipe open for reading as long as they run. Processes of another
// container, whose pids are unknown here, count too; processes of another host do not.
bool pipe_is_held(const std::string& run_path) {
  const std::string path = run_path + "/progress";
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISFIFO(info.st_mode)) return false;
  // Without a reader this fails, and it never waits.
  return static_cast<bool>(open_file(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW));
}

int64_t modified_ns(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return 0;
  return int64_t{info.st_mtim.tv_sec} * kNsPerSecond + info.st_mtim.tv_nsec;
}

// A run has the one or the other from its begin to its end.
bool is_open(const std::string& run_path) {
  return exists(run_path + "/progress") || exists(run_path + "/reserve");
}

// When samples were last written, or the manifest where there are none yet. (Without samples to
// come, a manifest was written by somebody else after the end.) The file is opened, so that NFS
// queries its server.
std::optional<int64_t> last_written_ns(const std::string& run_path) {
  auto fd = open_file(run_path + "/tail", O_RDONLY | O_NONBLOCK);
  if (!fd && is_open(run_path)) fd = open_file(run_path + "/manifest.json", O_RDONLY | O_NONBLOCK);
  if (!fd) return std::nullopt;
  return modified_ns(fd->get());
}

// Now, by the clock that dates the files of this folder: the server's, for a network file system.
// A file is created there and removed, because nothing else shows that clock.
int64_t file_clock_ns(const std::string& run_path) {
  const size_t slash = run_path.rfind('/');
  const std::string home = slash == std::string::npos ? "." : run_path.substr(0, slash);
  const std::string path = fmt::format("{}/.now-{}-{}", home, ::getpid(), monotonic_ns());
  const auto fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!fd) return realtime_ns();  // a home that is not ours to write to
  (void)write_all(fd->get(), "\n");
  const int64_t now = modified_ns(fd->get());
  ::unlink(path.c_str());
  return now;
}

bool written_within(const std::string& run_path, int64_t limit_ns) {
  const auto written = last_written_ns(run_path);
  if (!written) return false;
  // No file is created for runs that are too old under any clock.
  if (realtime_ns() - *written > limit_ns + kMaxSkewNs) return false;
  return file_clock_ns(run_path) - *written < limit_ns;
}

}  // namespace

Observer Observer::ours() {
  const auto boot_id = read_line("/proc/sys/kernel/random/boot_id");
  return {trainscope::host_name(), boot_id ? *boot_id : ""};
}

Liveness liveness(const std::string& run_path, const Manifest& manifest, const Observer& observer) {
  // An imported run has ended, even if it is unknown when.
  if (!manifest.ended.empty() || !manifest.imported_format.empty()) return Liveness::ended;
  const int64_t periods_ns = 20 * std::clamp<int64_t>(manifest.period_ns, 0, 3600 * kNsPerSecond);
  if (!observer.boot_id.empty() && observer.boot_id == manifest.boot_id) {
    const bool supervised =
        manifest.supervisor_pid > 0 &&
        start_ticks(static_cast<pid_t>(manifest.supervisor_pid)) == manifest.supervisor_start_ticks;
    // The recorder continues after its supervisor was killed, as long as the job runs.
    const bool recorded = supervised || pipe_is_held(run_path) ||
                          written_within(run_path, std::max(kLocalQuietNs, periods_ns));
    return recorded ? Liveness::here : Liveness::ended;
  }
  if (written_within(run_path, std::max(kForeignQuietNs, periods_ns))) return Liveness::elsewhere;
  // The host has our name, but the run began before this boot: no recorder survived that.
  const bool rebooted = !manifest.host_name.empty() && manifest.host_name == observer.host_name;
  return rebooted ? Liveness::ended : Liveness::silent_elsewhere;
}

Liveness liveness(const std::string& run_path, const Manifest& manifest) {
  return liveness(run_path, manifest, Observer::ours());
}

Liveness liveness_without_manifest(const std::string& run_path) {
  if (pipe_is_held(run_path)) return Liveness::here;
  return written_within(run_path, kForeignQuietNs) ? Liveness::elsewhere : Liveness::ended;
}

RunStatus run_status(const std::string& run_path, const Manifest& manifest) {
  switch (liveness(run_path, manifest)) {
    case Liveness::here:
    case Liveness::elsewhere:
      return RunStatus::running;
    case Liveness::ended:
    case Liveness::silent_elsewhere:
      break;
  }
  return RunStatus::ended;
}

}  // namespace trainscope
