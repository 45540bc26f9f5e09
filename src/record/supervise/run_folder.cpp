#include "record/supervise/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

#include "base/bounded_child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "format/format.h"
#include "kernel/host_name.h"
#include "record/supervise/instrument.h"

namespace trainscope {

namespace {

// A disk that others keep busy may take seconds to create a file.
constexpr int64_t kFolderHangNs = 10 * kNsPerSecond;
constexpr int64_t kLimitNs = 60 * kNsPerSecond;
constexpr off_t kReservedBytes = 64 * 1024;

// Work on a folder that may hang; the Error that it does comes in time.
Result<std::string> in_child(const std::function<Result<std::string>()>& work) {
  ChildLimits limits;
  limits.idle_ns = kFolderHangNs;
  limits.total_ns = kLimitNs;
  limits.heeds_signals = false;  // Ctrl-C is for the job, or for us
  const ChildAnswer answer = ask_child(limits, [&] {
    const Result<std::string> result = work();
    if (result) return "+" + *result;
    return fmt::format("-{} {}", result.error().error_number(), result.error().message());
  });
  const bool hangs = answer.end == ChildEnd::hung || answer.end == ChildEnd::too_slow;
  if (hangs) return Error(answer.text, ETIMEDOUT);
  if (answer.end != ChildEnd::done || answer.text.empty()) return Error(answer.text);
  if (answer.text.front() == '+') return answer.text.substr(1);
  const size_t space = answer.text.find(' ');
  const auto number = parse_integer(std::string_view(answer.text).substr(1, space - 1));
  return Error(answer.text.substr(space + 1), static_cast<int>(number.value_or(0)));
}

// The home is where it should be, but takes no run now; `detail` states why.
Error unwritable_home(const std::string& home, const std::string& detail, int error_number) {
  const bool is_full = error_number == ENOSPC || error_number == EDQUOT;
  return Error(fmt::format("cannot create a run in {}: {}; {}set TRAINSCOPE_HOME to another folder",
                           printable(home), detail, is_full ? "free some space there or " : ""),
               error_number);
}

Status replace_or_write(const std::string& path, const std::string& text) {
  struct stat target {};
  if (::stat(path.c_str(), &target) != 0 || S_ISREG(target.st_mode)) {
    return replace_file(path, text);
  }
  TS_TRY(const UniqueFd fd, open_file(path, O_WRONLY | O_NONBLOCK | O_NOCTTY));
  return write_all(fd.get(), text);
}

// A run without it is complete as well.
void reserve_space(const NewRun& run) {
  const auto file = open_file(reserve_path(run.path), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file) (void)!::posix_fallocate(file->get(), 0, kReservedBytes);
}

// All repeats of a command are named after the first of them.
void set_id(Manifest& manifest, const std::string& id) {
  manifest.id = id;
  if (manifest.repeat.count > 1 && manifest.repeat.group.empty()) {
    manifest.repeat.group = "repeat-" + id;
  }
}

// A copy for the run, which may be read on another machine.
void add_limits(const std::string& home, Manifest& manifest) {
  auto limits = read_host_limits(home, manifest.host_name);
  if (!limits) {
    manifest.notes.push_back("the limits of this machine are unknown: " + limits.error().message());
  } else if (*limits &&
             may_apply_to(**limits, machine_kind(processor_model(""), online_processors()))) {
    manifest.limits = std::move(*limits);
  }
}

}  // namespace

bool is_unwritable_home(const Error& error) {
  constexpr std::array kNumbers = {ENOSPC, EDQUOT, EFBIG,  EMLINK,   EACCES,   EPERM,
                                   EROFS,  EIO,    ESTALE, ENOTCONN, ETIMEDOUT};
  return std::find(kNumbers.begin(), kNumbers.end(), error.error_number()) != kNumbers.end();
}

std::string reserve_path(const std::string& run_path) { return run_path + "/reserve"; }

std::string progress_path(const NewRun& run) { return run.path + "/progress"; }

Result<RunFolder> make_run_folder(const std::string& home, Manifest& manifest) {
  const auto made = in_child([&]() -> Result<std::string> {
    TS_TRY(const NewRun run, create_run(home));
    set_id(manifest, run.id);
    add_limits(home, manifest);
    const Status written = write_manifest(run.path, manifest);
    if (!written) {
      (void)remove_run(run.path);  // a run that never began leaves no folder
      return written.error();
    }
    reserve_space(run);
    std::string problem;
    if (::mkfifo(progress_path(run).c_str(), 0600) != 0) {
      problem = Error::from_errno("cannot create " + progress_path(run), errno).message();
    }
    const Json reply = {{"manifest", manifest_to_json(manifest)}, {"pipe_problem", problem}};
    return dump_json(reply);
  });
  if (!made && is_unwritable_home(made.error())) {
    const int number = made.error().error_number();
    const bool hangs = number == ETIMEDOUT;
    return unwritable_home(home, hangs ? made.error().message() : ::strerror(number), number);
  }
  if (!made) return made.error();
  const Json reply = parse_json(*made);
  TS_TRY(Manifest written, manifest_from_json(text_field(reply, "manifest")));
  set_id(manifest, written.id);
  manifest.limits = std::move(written.limits);
  manifest.notes = std::move(written.notes);
  RunFolder folder;
  folder.run = {manifest.id, home + "/" + manifest.id};
  if (const std::string problem = text_field(reply, "pipe_problem"); !problem.empty()) {
    folder.progress_pipe = Error(problem);
  }
  return folder;
}

Status add_instrument_files(const NewRun& run, const std::string& lease) {
  const auto written = in_child([&]() -> Result<std::string> {
    TS_CHECK_OK(write_instrument_files(run.path, lease));
    return std::string();
  });
  if (!written) return written.error();
  return {};
}

Status write_id_file(const std::string& path, const std::string& id) {
  // Our own descriptor, which a child would not have.
  if (path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
      path.starts_with("/proc/")) {
    TS_TRY(const UniqueFd fd, open_file(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY));
    return write_all(fd.get(), id + "\n");
  }
  const auto written = in_child([&]() -> Result<std::string> {
    TS_CHECK_OK(replace_or_write(path, id + "\n"));
    return std::string();
  });
  if (!written) return written.error();
  return {};
}

}  // namespace trainscope
