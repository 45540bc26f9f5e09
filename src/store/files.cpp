#include "store/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "base/text.h"
#include "store/rebuild.h"
#include "store/run_id.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr size_t kMaxSegmentBytes = size_t{8} << 30;

Result<RunFile> load(const std::string& folder, const std::string& name) {
  TS_TRY(std::string bytes, read_regular_file(folder + "/" + name, kMaxSegmentBytes));
  return RunFile{name, std::move(bytes)};
}

Status use_rebuilt(RunFiles& files, const Error& problem) {
  TS_TRY(files.manifest, rebuild_manifest(files, problem));
  files.manifest_problem = problem.message();
  files.status = run_status(files.path, files.manifest);
  if (files.status == RunStatus::ended) files.manifest.ended_by = EndedBy::unknown;
  return {};
}

}  // namespace

Result<UniqueFd> open_regular_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO that nobody writes would wait for ever.
  TS_TRY(UniqueFd fd, open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return Error::from_errno("cannot read " + path, errno);
  if (!S_ISREG(info.st_mode)) return Error(path + " is not a regular file");
  return fd;
}

Result<std::string> read_regular_file(const std::string& path, size_t limit) {
  TS_TRY(const UniqueFd fd, open_regular_file(path));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return Error::from_errno("cannot read " + path, errno);
  const auto size = static_cast<size_t>(info.st_size);
  if (size > limit) return Error(fmt::format("{} is larger than we read ({} bytes)", path, size));
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t n = ::read(fd.get(), bytes.data() + have, size - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno("cannot read " + path, errno);
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

std::optional<int> segment_number(std::string_view name) {
  constexpr std::string_view kPrefix = "samples-", kSuffix = ".seg";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::string_view digits = name.substr(
      kPrefix.size(), name.size() - std::min(name.size(), kPrefix.size() + kSuffix.size()));
  if (digits.size() < 4 || digits.size() > 9) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return static_cast<int>(parse_integer(digits).value_or(0));
}

bool is_run_folder_name(std::string_view name) {
  if (!is_run_id(name.substr(0, kRunIdLength))) return false;
  return name.size() == kRunIdLength || name[kRunIdLength] == '-' || name[kRunIdLength] == '.';
}

Result<RunFiles> load_run_files(const std::string& run_path) {
  RunFiles files;
  files.path = run_path;
  auto manifest = read_manifest(run_path);
  if (manifest) {
    files.manifest = std::move(*manifest);
    files.status = run_status(run_path, files.manifest);
  } else if (!can_rebuild(manifest.error())) {
    return manifest.error();
  }
  // No tail: all is sealed. It may vanish at any moment, so its absence shows in the opening only.
  if (auto tail = load(run_path, "tail")) {
    files.tail = std::move(*tail);
  } else if (tail.error().error_number() != ENOENT) {
    return tail.error();
  }
  TS_TRY(const std::vector<std::string> names, list_folder(run_path));
  std::vector<std::pair<int, std::string>> segments;
  for (const std::string& name : names) {
    if (const auto number = segment_number(name)) segments.emplace_back(*number, name);
  }
  std::sort(segments.begin(), segments.end());
  for (const auto& [number, name] : segments) {
    TS_TRY(RunFile segment, load(run_path, name));
    files.segments.push_back(std::move(segment));
  }
  if (!manifest) TS_CHECK_OK(use_rebuilt(files, manifest.error()));
  return files;
}

Result<std::unique_ptr<RunView>> open_run(const std::string& run_path) {
  TS_TRY(RunFiles files, load_run_files(run_path));
  return view_run(std::move(files));
}

}  // namespace trainscope
