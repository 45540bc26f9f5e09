#include "collect/support/counters/counter_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/text.h"
#include "collect/support/counters/path_pattern.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope {

namespace {

constexpr size_t kMaxFiles = 1000;  // of one pattern
constexpr size_t kMaxTextBytes = size_t{1} << 20;
constexpr int64_t kSearchEveryNs = kNsPerSecond;
// Looking for files may take this share of the time.
constexpr int64_t kSearchRest = 100;
// A file that takes longer to read, five times in a row, is left alone for as many times as long.
// What a busy machine lets this thread wait for a CPU is not the file's doing: from the second time
// on it is left out, which takes two more system calls.
constexpr int64_t kSlowReadNs = 5'000'000;
constexpr int kSlowReadings = 5;
constexpr int64_t kReadRest = 20;

bool is_of_kernel(int fd) {
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return false;
  return info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC ||
         info.f_type == DEBUGFS_MAGIC;
}

}  // namespace

void CounterFiles::name_counters(const SourceContext& context) {
  named_ = true;
  root_ = context.root;
  buffer_.resize(64 * 1024);
  if (const auto text = read_file(root_ + "/proc/self/mountinfo")) mounts_ = parse_mountinfo(*text);
  // The command line was checked before anything started.
  auto specs = parse_counters(context.counters);
  if (!specs) return;
  for (CounterSpec& spec : *specs) {
    SpecState& state = counters_.emplace_back();
    state.spec = std::move(spec);
    if (!state.spec.match.empty()) {
      auto pattern = RowPattern::compile(state.spec.match);
      if (pattern) state.pattern = std::make_unique<RowPattern>(std::move(*pattern));
    }
    state.metric = "counter." + state.spec.name;
    state.path = absolute_path(state.spec.path, context.working_directory);
    state.is_pattern =
        is_path_pattern(state.path) && (!is_ours(state.path) || !exists(root_ + state.path));
    state.described = {state.metric, state.spec.unit, state.spec.kind,
                       state.is_pattern ? "file" : "", ""};
    // If nothing matches a pattern, the part before its first * decides which collector reports it.
    const std::string fixed = state.path.substr(0, state.path.find_first_of("*?["));
    state.elsewhere = !is_ours(state.is_pattern ? fixed : state.path);
  }
}

bool CounterFiles::is_ours(const std::string& path) const {
  return leads_to_hanging_mount(mounts_, root_, path) == (mount_kind_ == MountKind::slow_mounts);
}

void CounterFiles::find_files() {
  const int64_t begin = now_ns_();
  for (SpecState& state : counters_) {
    if (!state.is_pattern) {
      if (!state.elsewhere) add(state, state.path);
      continue;
    }
    // A file that is read anyway is not examined again: that takes a system call per component.
    const auto is_read_here = [&](const std::string& path) {
      return by_path_.contains(path) || is_ours(path);
    };
    const auto may_enter = [&](const std::string& path) {
      return mount_kind_ == MountKind::slow_mounts || is_read_here(path);
    };
    const auto found = expand_path(root_, state.path, kMaxFiles, may_enter);
    for (const std::string& path : found) {
      if (is_read_here(path)) add(state, path);
    }
    if (found.empty()) state.reason = "no file matches " + state.path;
  }
  const int64_t end = now_ns_();
  next_search_ns_ = end + std::max(kSearchEveryNs, kSearchRest * (end - begin));
}

void CounterFiles::add(SpecState& state, const std::string& path) {
  File*& file = by_path_[path];
  if (file == nullptr) {
    file = &files_.emplace_back();
    file->path = path;
    file->full = root_ + path;
    file->from_pattern = true;
  }
  file->from_pattern = file->from_pattern && state.is_pattern;
  for (const Counter& counter : file->counters) {
    if (counter.state == &state) return;
  }
  file->counters.emplace_back().state = &state;
}

// A file matched by a pattern may disappear; a file given by its path is waited for.
void CounterFiles::drop_vanished() {
  files_.remove_if([&](const File& file) {
    const bool vanished = file.from_pattern && !exists(file.full);
    if (vanished) by_path_.erase(file.path);
    return vanished;
  });
}

Opened CounterFiles::open(const SourceContext& context) {
  // A run without counters does not lack them; they are listed as missing only without a job
  // (doctor).
  if (context.counters.empty() && context.job != nullptr) return {};
  if (context.counters.empty()) {
    return all_missing(kCounterMetrics, "no counter was given",
                       "trainscope run --counter 'NAME:uint@FILE+r=0;c=0' -- COMMAND");
  }
  now_ns_ = context.now_ns;
  if (!named_) name_counters(context);
  drop_vanished();
  find_files();
  const int64_t now = now_ns_();
  for (File& file : files_) {
    for (Counter& counter : file.counters) counter.has_column = false;
    if (!file.fd) open_file_of(file);
    take(file, {}, now);
  }
  return layout();
}

Opened CounterFiles::layout() {
  Opened opened;
  std::set<const SpecState*> listed;
  for (File& file : files_) {
    for (Counter& counter : file.counters) {
      const SpecState& state = *counter.state;
      counter.has_column = counter.has_value;
      if (!counter.has_value) continue;
      counter.column = opened.columns.size();
      Labels labels;
      if (state.is_pattern) labels = {{"file", label_value(file.path)}};
      opened.columns.push_back({state.metric,
                                std::move(labels),
                                {},
                                &state.described,
                                state.spec.type.number == CounterType::Number::real});
      listed.insert(&state);
    }
  }
  for (const File& file : files_) {
    for (const Counter& counter : file.counters) {
      const SpecState& state = *counter.state;
      if (counter.has_value || !listed.insert(&state).second) continue;
      const std::string reason =
          file.reason.empty() ? file.path + ": " + extraction_error_text(state.spec, counter.last)
                              : file.reason;
      opened.missing.push_back({state.metric, reason, "", &state.described});
    }
  }
  for (const SpecState& state : counters_) {
    if (state.elsewhere || !listed.insert(&state).second) continue;
    opened.missing.push_back({state.metric, state.reason, "", &state.described});
  }
  opened.waits = !opened.missing.empty();
  return opened;
}

bool CounterFiles::open_file_of(File& file) const {
  file.fd.reset();
  // A FIFO must not block us, and a terminal must not become our controlling terminal.
  auto fd = open_file(file.full, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) {
    file.reason = read_error_text(file.path, fd.error());
    return false;
  }
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    file.reason = file.path + " is not a regular file";
    return false;
  }
  const bool same = info.st_dev == file.device && info.st_ino == file.inode;
  file.ends_with_newline = file.ends_with_newline && same;
  file.fd = std::move(*fd);
  file.device = info.st_dev;
  file.inode = info.st_ino;
  file.of_kernel = is_of_kernel(file.fd.get());
  return true;
}

bool CounterFiles::follow(File& file) const {
  if (file.of_kernel) return true;
  // A network mount shows changes only to a process that opens the file.
  if (mount_kind_ == MountKind::slow_mounts) return open_file_of(file);
  struct stat info {};
  // Keeping the old file open prevents its inode number from being reused.
  if (::stat(file.full.c_str(), &info) != 0) {
    if (file.reason.empty()) file.reason = file.path + " no longer exists";
    return false;
  }
  return (info.st_dev == file.device && info.st_ino == file.inode) || open_file_of(file);
}

bool CounterFiles::read(File& file) {
  if (!file.fd || !follow(file)) return false;
  size_t size = 0;
  for (;;) {
    if (size == buffer_.size()) {
      if (size >= kMaxTextBytes) break;
      buffer_.resize(size * 2);
    }
    const ssize_t n = ::pread(file.fd.get(), buffer_.data() + size, buffer_.size() - size,
                              static_cast<off_t>(size));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      file.reason =
          read_error_text(file.path, Error::from_errno("cannot read " + file.path, errno));
      file.fd.reset();  // of a driver that was loaded again: opened again later
      return false;
    }
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  const std::string_view content(buffer_.data(), size);
  const bool newline = content.ends_with('\n');
  file.ends_with_newline = file.ends_with_newline || newline;
  text_.assign(content, file.ends_with_newline || size >= kMaxTextBytes);
  file.reason.clear();
  return true;
}

Extraction CounterFiles::value_of(const File& file, const Counter& counter, uint64_t& bits) const {
  const CounterSpec& spec = counter.state->spec;
  const size_t wanted = spec.type.binary_bytes;
  if (wanted == 0) return extract(spec, counter.state->pattern.get(), text_, bits);
  if (spec.offset < text_.bytes.size() && text_.bytes.size() - spec.offset >= wanted) {
    return extract_binary(spec.type, text_.bytes.substr(spec.offset), bits);
  }
  if (text_.bytes.size() < kMaxTextBytes) return Extraction::no_row;
  char raw[8];
  const ssize_t n = ::pread(file.fd.get(), raw, wanted, static_cast<off_t>(spec.offset));
  return extract_binary(spec.type, {raw, n < 0 ? 0 : static_cast<size_t>(n)}, bits);
}

bool CounterFiles::take(File& file, std::span<int64_t> values, int64_t now) {
  for (const Counter& counter : file.counters) {
    if (counter.has_column) values[counter.column] = kAbsent;
  }
  if (now < file.skip_until_ns) return false;
  const bool was_slow = file.slow_readings > 0;
  const int64_t waited_before = was_slow ? wait_ns_() : 0;
  if (!read(file)) return false;
  bool first_value = false;
  for (Counter& counter : file.counters) {
    uint64_t bits = 0;
    counter.last = value_of(file, counter, bits);
    if (counter.last != Extraction::found) continue;
    if (counter.state->spec.from_first && !counter.has_first) {
      counter.has_first = true;
      counter.first = bits;
    }
    const int64_t value = stored_value(counter.state->spec.type, bits, counter.first);
    if (value == kAbsent) counter.last = Extraction::out_of_range;
    if (value == kAbsent) continue;
    first_value |= !counter.has_value;
    counter.has_value = true;
    if (counter.has_column) values[counter.column] = value;
  }
  const int64_t end = now_ns_();
  const int64_t waited = was_slow ? wait_ns_() - waited_before : 0;
  const int64_t took = end - now - waited;
  file.slow_readings = took > kSlowReadNs ? file.slow_readings + 1 : 0;
  if (mount_kind_ == MountKind::local_files && file.slow_readings >= kSlowReadings) {
    file.skip_until_ns = now + kReadRest * took;
  }
  return first_value;
}

Sampled CounterFiles::sample(std::span<int64_t> values) {
  bool changed = false;
  int64_t now = now_ns_();
  for (File& file : files_) {
    changed |= take(file, values, now);
    now = now_ns_();
  }
  if (!counters_.empty() && now >= next_search_ns_) {
    // New files are read at the next tick; their first value changes the layout.
    find_files();
    for (File& file : files_) {
      if (!file.fd) open_file_of(file);
    }
  }
  return changed ? Sampled::layout_changed : Sampled::ok;
}

Sampled CounterFiles::sample_last(std::span<int64_t> values) {
  for (File& file : files_) file.skip_until_ns = 0;
  return sample(values);
}

}  // namespace trainscope
