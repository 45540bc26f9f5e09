// page_cache: part of the dataset's files (--data) that is in the page cache.
//
// Source: cachestat(2), Linux 6.5 and later. Units: bytes, by whole pages. Permission: newer
// kernels reply only to users who own the files or may write them. Cost: 5 µs per file, at most 500
// files per path every 10 s, on its own thread, because the files may be on a network mount.
// Caveats: of more than 500 files a fixed sample is examined, chosen by a hash of the names from
// the first 100,000 found, 2,000 per folder; size is that of the sample, so cached/size is the
// part. The last value is up to 10 s older than the end of the run. mincore(2), the older call,
// needs the same permission and a mapping of every file: it is not used.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "collect/collect.h"
#include "collect/support/file_sample.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::page_cache_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.page_cache.size", "By", Kind::gauge, "path", "Size of the examined files"},
    {"system.page_cache.cached", "By", Kind::gauge, "path", "Part of it that is in the page cache"},
    {"system.page_cache.evicted", "By", Kind::gauge, "path",
     "Part of it that was evicted from the page cache recently"},
};

constexpr size_t kMaxFiles = 500;
constexpr size_t kMaxLook = 100'000;
constexpr long kCachestat = 451;  // the same on every architecture

struct CachestatRange {
  uint64_t offset = 0, length = 0;  // 0: to the end
};
struct Cachestat {
  uint64_t cached = 0, dirty = 0, writeback = 0, evicted = 0, recently_evicted = 0;  // pages
};

struct Dataset {
  std::string path;
  std::vector<std::string> files;
};

// Sums over the files of a dataset. `error`: the errno of a file that was refused, 0 when none was.
struct Sums {
  int64_t size = 0, cached = 0, evicted = 0;
  size_t files = 0;
  int error = 0;
};

void add_file(const std::string& path, int64_t page, Sums& sums) {
  const auto fd = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    if (!fd) sums.error = fd.error().error_number();
    return;
  }
  CachestatRange all;
  Cachestat pages;
  if (::syscall(kCachestat, fd->get(), &all, &pages, 0) != 0) {
    sums.error = errno;
    return;
  }
  ++sums.files;
  sums.size += info.st_size;
  // The last page is often not full, and counts whole.
  sums.cached += std::min<int64_t>(static_cast<int64_t>(pages.cached) * page, info.st_size);
  sums.evicted += static_cast<int64_t>(pages.recently_evicted) * page;
}

class PageCacheSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    datasets_.clear();
    page_ = ::sysconf(_SC_PAGESIZE);
    if (context.data.empty()) {
      return all_missing(kMetrics, "no dataset was given",
                         "trainscope run --data FOLDER -- COMMAND");
    }
    Opened opened;
    std::string reason, remedy;
    for (const std::string& given : context.data) {
      const std::string path = absolute_path(given, context.working_directory);
      Dataset dataset = {path, sample_files(context.root + path, kMaxFiles, kMaxLook)};
      if (dataset.files.empty()) {
        const bool there = exists(context.root + path);
        reason = path + (there ? " has no files" : " does not exist");
        continue;
      }
      if (!is_readable(dataset, reason, remedy) || is_known(given, opened)) continue;
      for (const MetricSpec& spec : kMetrics) {
        opened.columns.push_back({spec.name, {{"path", label_value(given)}}, {}});
      }
      datasets_.push_back(std::move(dataset));
    }
    return datasets_.empty() ? all_missing(kMetrics, reason, remedy) : opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    for (size_t i = 0; i < datasets_.size(); ++i) {
      const Sums sums = sum_of(datasets_[i]);
      const bool known = sums.files > 0;
      values[3 * i] = known ? sums.size : kAbsent;
      values[3 * i + 1] = known ? sums.cached : kAbsent;
      values[3 * i + 2] = known ? sums.evicted : kAbsent;
    }
    return Sampled::ok;
  }

 private:
  Sums sum_of(const Dataset& dataset) const {
    Sums sums;
    for (const std::string& file : dataset.files) {
      add_file(file, page_, sums);
      if (sums.error == ENOSYS) break;
    }
    return sums;
  }

  static bool is_known(const std::string& given, const Opened& opened) {
    return std::any_of(opened.columns.begin(), opened.columns.end(), [&](const Column& column) {
      return column.labels[0].second == label_value(given);
    });
  }

  bool is_readable(const Dataset& dataset, std::string& reason, std::string& remedy) const {
    const Sums sums = sum_of(dataset);
    if (sums.files > 0) return true;
    if (sums.error == ENOSYS) {
      reason = "this kernel has no cachestat: it needs Linux 6.5 or later";
    } else if (sums.error == EPERM || sums.error == EACCES) {
      reason =
          "only the owner of " + dataset.path + " may query how much of it is in the page cache";
      remedy = "sudo trainscope run --data FOLDER -- COMMAND";
    } else {
      reason = Error::from_errno("cannot query the page cache for " + dataset.path, sums.error)
                   .message();
    }
    return false;
  }

  std::vector<Dataset> datasets_;
  int64_t page_ = 4096;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "page_cache",
    .summary = "part of the dataset (--data) that is in the page cache",
    .needs = "--data, Linux 6.5 or later, and ownership of the files",
    .scope = Scope::machine,
    .pace = Pace::thread,
    .period_ns = 10 * kNsPerSecond,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<PageCacheSource>()); },
};

}  // namespace trainscope::page_cache_collector
