#include "store/read/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "store/read/rebuild.h"
#include "store/read/run_id.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr size_t kMaxFileBytes = size_t{8} << 30;
// Extent::ends. Head, schemas and manifest are at the beginning of a segment; the last rows are at
// the end, and in an imported run the manifest too.
constexpr size_t kBeginBytes = size_t{1} << 20, kEndBytes = size_t{4} << 20;
constexpr size_t kLastSegments = 7;
// Extent::all. Small files, and all up to so many bytes, are held in memory; of the others so many
// stay open: the tail, which may be removed, before the segments.
constexpr size_t kSmallBytes = 4096;
struct HeldFiles {
  size_t bytes, open;
};
constexpr HeldFiles kUsuallyHeld = {size_t{16} << 20, 64}, kLittleHeld = {size_t{256} << 10, 16};
// Of one pass over a file. A core's cache holds it, where its sums are computed.
constexpr size_t kWindowBytes = size_t{512} << 10;

Result<std::string> read_ends(const std::string& path) {
  TS_TRY(const UniqueFd fd, open_regular_file(path));
  TS_TRY(const size_t size, file_size(fd, path));
  std::string bytes;
  const size_t begin = std::min(size, kBeginBytes), end = std::min(size - begin, kEndBytes);
  TS_CHECK_OK(read_part(fd, path, 0, begin, bytes));
  TS_CHECK_OK(read_part(fd, path, size - end, end, bytes, bytes.size()));
  return bytes;
}

// Loads the files of a run one after the other.
class FileLoader {
 public:
  FileLoader(const std::string& folder, Extent extent, Footprint footprint)
      : folder_(folder),
        extent_(extent),
        most_(footprint == Footprint::small ? kLittleHeld : kUsuallyHeld) {}

  Result<RunFile> load(const std::string& name) {
    const std::string path = folder_ + "/" + name;
    RunFile file{name, "", nullptr};
    if (extent_ == Extent::ends) {
      TS_TRY(file.bytes, read_ends(path));
      return file;
    }
    TS_TRY(UniqueFd fd, open_regular_file(path));
    TS_TRY(const size_t size, file_size(fd, path));
    if (size > kMaxFileBytes) {
      return Error(fmt::format("{} is larger than we read ({} bytes)", path, size));
    }
    if (size <= kSmallBytes || held_ + size <= most_.bytes) {
      TS_CHECK_OK(read_part(fd, path, 0, size, file.bytes));
      held_ += size;
      return file;
    }
    if (open_ == most_.open) {
      fd.reset();
    } else {
      ++open_;
    }
    file.on_disk = std::make_shared<const DiskFile>(DiskFile{path, size, std::move(fd)});
    return file;
  }

 private:
  const std::string& folder_;
  const Extent extent_;
  const HeldFiles most_;
  size_t held_ = 0;  // bytes in memory
  size_t open_ = 0;  // files that stay open
};

// The names of the segments to be read, in order of their numbers.
Result<std::vector<std::string>> segment_names(const std::string& run_path, Extent extent) {
  TS_TRY(const std::vector<std::string> names, list_folder(run_path));
  std::vector<std::pair<int, std::string>> segments;
  for (const std::string& name : names) {
    if (const auto number = segment_number(name)) segments.emplace_back(*number, name);
  }
  std::sort(segments.begin(), segments.end());
  std::vector<std::string> chosen;
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool at_an_end = i == 0 || segments.size() - i <= kLastSegments;
    if (extent == Extent::all || at_an_end) chosen.push_back(std::move(segments[i].second));
  }
  return chosen;
}

Status use_rebuilt(RunFiles& files, const Error& problem) {
  TS_TRY(files.manifest, rebuild_manifest(files, problem));
  files.status = run_status(files.path, files.manifest);
  if (files.status == RunStatus::ended) files.manifest.ended_by = EndedBy::unknown;
  return {};
}

}  // namespace

Result<std::string_view> RunFile::read(size_t offset, size_t length, std::string& buffer) const {
  if (!on_disk) return std::string_view(bytes).substr(std::min(offset, bytes.size()), length);
  if (on_disk->fd) {
    TS_CHECK_OK(read_part(on_disk->fd, on_disk->path, offset, length, buffer));
  } else {
    TS_TRY(const UniqueFd fd, open_regular_file(on_disk->path));
    TS_CHECK_OK(read_part(fd, on_disk->path, offset, length, buffer));
  }
  return std::string_view(buffer);
}

FrameBytes RunFile::frames() const {
  if (!on_disk) {
    return {bytes.size(), [this](size_t offset, size_t length) -> Result<std::string_view> {
              return std::string_view(bytes).substr(offset, length);
            }};
  }
  struct Window {
    std::string bytes;
    size_t offset = 0;
  };
  return {on_disk->size,
          [this, window = std::make_shared<Window>()](size_t offset,
                                                      size_t length) -> Result<std::string_view> {
            const size_t end = window->offset + window->bytes.size();
            if (offset < window->offset || offset + length > end) {
              window->offset = offset;
              TS_TRY([[maybe_unused]] const std::string_view read,
                     this->read(offset, std::max(length, kWindowBytes), window->bytes));
            }
            return std::string_view(window->bytes).substr(offset - window->offset, length);
          }};
}

Result<std::string_view> FramePlace::payload(std::string& buffer) const {
  if (!file->on_disk) {
    return std::string_view(file->bytes).substr(offset + kFrameHeaderBytes, length);
  }
  TS_TRY(const std::string_view bytes, file->read(offset, kFrameHeaderBytes + length, buffer));
  return frame_payload(bytes).with_context(
      fmt::format("{}: frame at offset {}", file->name, offset));
}

bool is_run_folder_name(std::string_view name) {
  if (!is_run_id(name.substr(0, kRunIdLength))) return false;
  return name.size() == kRunIdLength || name[kRunIdLength] == '-' || name[kRunIdLength] == '.';
}

Result<RunFiles> load_run_files(const std::string& run_path, Extent extent, Footprint footprint) {
  RunFiles files;
  files.path = run_path;
  if (footprint == Footprint::small) files.most_gaps = kMostListedGaps;
  auto manifest = read_manifest(run_path);
  if (manifest) {
    files.manifest = std::move(*manifest);
    files.status = run_status(run_path, files.manifest);
  } else if (!can_rebuild(manifest.error())) {
    return manifest.error();
  }
  // No tail: everything is sealed. It may be removed at any time, so only opening it shows whether
  // it exists.
  FileLoader loader(run_path, extent, footprint);
  if (auto tail = loader.load("tail")) {
    files.tail = std::move(*tail);
  } else if (tail.error().error_number() != ENOENT) {
    return tail.error();
  }
  TS_TRY(const std::vector<std::string> segments, segment_names(run_path, extent));
  for (const std::string& name : segments) {
    TS_TRY(RunFile segment, loader.load(name));
    files.segments.push_back(std::move(segment));
  }
  if (!manifest) TS_CHECK_OK(use_rebuilt(files, manifest.error()));
  return files;
}

Result<std::unique_ptr<RunView>> open_run(const std::string& run_path, Footprint footprint) {
  TS_TRY(RunFiles files, load_run_files(run_path, Extent::all, footprint));
  return view_run(std::move(files));
}

Result<std::unique_ptr<RunView>> open_run(const std::string& run_path, const Manifest& manifest) {
  TS_TRY(RunFiles files, load_run_files(run_path));
  files.manifest = manifest;
  files.status = RunStatus::ended;
  return view_run(std::move(files));
}

}  // namespace trainscope
