// disk: how fast files are read and opened where the data lies.
//
// Measured: reads that bypass the page cache (O_DIRECT) from a scratch file of random bytes: whole
// MiB in order, and 4 KiB at random places, each by one thread and by several that read at the same
// time (8 and 32, as fio does with ioengine=psync and numjobs). Opens: open and close of 128 empty
// files in turn by one thread, which the kernel answers from memory on a local file system and the
// server on a remote one. Limits: a file system in memory (tmpfs) is refused, one that ignores
// O_DIRECT (ZFS) replies from memory; a cache of the disk or of the hypervisor that holds the
// scratch file counts as the disk.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "limits/limits.h"
#include "limits/support/place.h"
#include "limits/support/scratch.h"
#include "limits/support/team.h"
#include "limits/support/timed_work.h"

namespace trainscope::disk_limits {

namespace {

constexpr int64_t kBlock = int64_t{1} << 20, kPage = 4096;
constexpr size_t kStreams = 8, kRandomReaders = 32;
constexpr int64_t kFillNs = 8 * kNsPerSecond;
constexpr const char *kOrdered = "disk.read.sequential",
                     *kOrderedParallel = "disk.read.sequential_parallel",
                     *kRandom = "disk.read.random", *kRandomParallel = "disk.read.random_parallel";

struct Free {
  void operator()(char* memory) const { ::free(memory); }
};
using Block = std::unique_ptr<char, Free>;

Block make_block(int64_t bytes) {
  Block block(static_cast<char*>(::aligned_alloc(kPage, static_cast<size_t>(bytes))));
  CHECK(block != nullptr);
  return block;
}

std::vector<Block> make_blocks(size_t count, int64_t bytes) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < count; ++i) blocks.push_back(make_block(bytes));
  return blocks;
}

// xorshift64: bytes that no file system compresses, and places that no disk foresees.
uint64_t next_random(uint64_t& state) {
  state ^= state << 13U;
  state ^= state >> 7U;
  state ^= state << 17U;
  return state;
}

int read_at(int fd, char* block, int64_t bytes, int64_t offset) {
  const ssize_t n = ::pread(fd, block, static_cast<size_t>(bytes), offset);
  if (n == bytes) return kContinue;
  return n < 0 ? errno : EIO;
}

// One folder being measured.
class DiskMeasurement {
 public:
  DiskMeasurement(const MeasureOptions& options, MachineLimits& found)
      : options_(options), found_(found), place_(storage_place(options.data_folder)) {}

  Status run() {
    open_files();
    if (fill()) {
      read_in_order(kOrdered, 1);
      read_in_order(kOrderedParallel, kStreams);
      read_anywhere(kRandom, 1);
      read_anywhere(kRandomParallel, kRandomReaders);
    }
    if (signals_.is_interrupted()) return Error("interrupted", EINTR);
    return {};
  }

 private:
  void report_progress(const char* what) {
    if (options_.progress) options_.progress(fmt::format("storage: {}", what));
  }

  void add_missing(const char* name, const Error& error, const char* remedy) {
    found_.missing.push_back({name, error.message(),
                              error.error_number() == EAGAIN ? kMoreThreads : remedy,
                              place_.mount_point});
  }

  // One operation that may take long, or hang.
  Status call(const std::function<Status()>& operation) {
    Status status;
    const TimedWork done = repeat_for(signals_, 1, kFillNs, [&](size_t, int64_t) {
      status = operation();
      return kAllDone;
    });
    return done.status ? status : done.status;
  }

  // False if there is nothing to read.
  bool fill() {
    if (signals_.is_interrupted()) return false;
    report_progress("writing the scratch file");
    Status written = call([&]() -> Status {
      TS_TRY(file_, make_scratch_file(options_.data_folder));
      return {};
    });
    if (written) written = write_blocks();
    if (!written) {
      for (const char* name : {kOrdered, kOrderedParallel, kRandom, kRandomParallel}) {
        add_missing(name, written.error(),
                    "use --size MIB for a smaller scratch file, or --data with another folder");
      }
    }
    return written && !signals_.is_interrupted();
  }

  Status write_blocks() {
    const int64_t blocks = std::max<int64_t>(1, options_.scratch_bytes / kBlock);
    const Block block = make_block(kBlock);
    uint64_t state = 0x9e3779b97f4a7c15U;
    for (int64_t i = 0; i < kBlock; i += 8) {
      const uint64_t bits = next_random(state);
      std::memcpy(block.get() + i, &bits, sizeof bits);
    }
    const TimedWork written = repeat_for(signals_, 1, kFillNs, [&](size_t, int64_t turn) {
      if (turn == blocks) return kAllDone;
      // Contiguous where that is possible.
      if (turn == 0) (void)::fallocate(file_.get(), 0, 0, blocks * kBlock);
      std::memcpy(block.get(), &turn, sizeof turn);  // no two blocks are the same
      const ssize_t n = ::pwrite(file_.get(), block.get(), kBlock, turn * kBlock);
      if (n == kBlock) return kContinue;
      return n < 0 ? errno : ENOSPC;
    });
    bytes_ = written.operations * kBlock;
    if (!written.status) {
      return written.status.error().with_context(
          fmt::format("cannot write {} to {}", bytes_text(static_cast<double>(blocks * kBlock)),
                      printable(options_.data_folder)));
    }
    return call([&]() -> Status {
      (void)::fdatasync(file_.get());
      return {};
    });
  }

  void read_in_order(const char* name, size_t most_streams) {
    if (signals_.is_interrupted()) return;
    report_progress(name);
    const auto streams = std::min<size_t>(most_streams, static_cast<size_t>(bytes_ / kBlock));
    const int64_t part = bytes_ / kBlock / static_cast<int64_t>(streams);
    const std::vector<Block> blocks = make_blocks(streams, kBlock);
    const TimedWork read =
        repeat_for(signals_, streams, options_.each_ns, [&](size_t stream, int64_t turn) {
          const int64_t at = static_cast<int64_t>(stream) * part + turn % part;
          return read_at(file_.get(), blocks[stream].get(), kBlock, at * kBlock);
        });
    add(name, read, static_cast<double>(kBlock), "By/s",
        fmt::format("O_DIRECT, blocks of 1 MiB, {}, a file of {} MiB",
                    counted(static_cast<int64_t>(streams), "thread"), bytes_ / kBlock));
  }

  void read_anywhere(const char* name, size_t readers) {
    if (signals_.is_interrupted()) return;
    report_progress(name);
    const auto pages = static_cast<uint64_t>(bytes_ / kPage);
    const std::vector<Block> blocks = make_blocks(readers, kPage);
    std::vector<uint64_t> states(readers);
    for (size_t i = 0; i < readers; ++i) states[i] = 0x9e3779b97f4a7c15U * (i + 1);
    const TimedWork read =
        repeat_for(signals_, readers, options_.each_ns, [&](size_t reader, int64_t) {
          const auto page = static_cast<int64_t>(next_random(states[reader]) % pages);
          return read_at(file_.get(), blocks[reader].get(), kPage, page * kPage);
        });
    add(name, read, 1, "{operation}/s",
        fmt::format("O_DIRECT, blocks of 4 KiB, {}, a file of {} MiB",
                    counted(static_cast<int64_t>(readers), "thread"), bytes_ / kBlock));
  }

  void open_files() {
    report_progress("opening files");
    const char* const name = "disk.open";
    ScratchFolder scratch;
    Status made = call([&] { return scratch.make(options_.data_folder); });
    int64_t files = 0;
    if (made) {
      const TimedWork created = repeat_for(signals_, 1, kFillNs, [&](size_t, int64_t turn) {
        const auto file = static_cast<size_t>(turn);
        return file == ScratchFolder::kMostFiles ? kAllDone : scratch.create_file(file);
      });
      files = created.operations;
      made = created.status;
    }
    if (!made) add_missing(name, made.error(), "use --data with another folder");
    if (made && !signals_.is_interrupted()) {
      const TimedWork opened = repeat_for(signals_, 1, options_.each_ns, [&](size_t, int64_t turn) {
        return scratch.open_and_close(static_cast<size_t>(turn % files));
      });
      add(name, opened, 1, "{file}/s",
          fmt::format("open and close of {} files in turn, 1 thread", files));
    }
    (void)call([&]() -> Status {
      scratch.remove();
      return {};
    });
  }

  void add(const char* name, const TimedWork& work, double factor, const char* unit,
           const std::string& how) {
    if (!work.status) {
      add_missing(name, work.status.error(), "");
      return;
    }
    Limit limit;
    limit.name = name;
    limit.value = work.per_second() * factor;
    limit.unit = unit;
    limit.how = fmt::format("{}, in {}", how, place_.folder);
    if (!place_.file_system.empty()) limit.how += fmt::format(" ({})", place_.file_system);
    limit.mount_point = place_.mount_point;
    limit.device = place_.device;
    found_.limits.push_back(std::move(limit));
  }

  const MeasureOptions& options_;
  MachineLimits& found_;
  const StoragePlace place_;
  HeldSignals signals_;  // before everything that must be removed
  UniqueFd file_;
  int64_t bytes_ = 0;
};

Status check(const MeasureOptions& options) {
  TS_TRY(const UniqueFd file, make_scratch_file(options.data_folder));
  struct statfs info {};
  if (::fstatfs(file.get(), &info) != 0) return {};
  if (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC) {
    return Error(
        fmt::format("cannot measure storage in {}: this file system is in memory; use --data DIR "
                    "with a folder on the disk that has the data, or --only cpu|gpu|memory",
                    printable(options.data_folder)));
  }
  const auto free = static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
  if (free >= options.scratch_bytes + options.scratch_bytes / 8) return {};
  return Error(
      fmt::format("cannot measure storage in {}: {} are free, and the scratch file takes {}; use "
                  "--size MIB for a "
                  "smaller one, or --data DIR",
                  printable(options.data_folder), bytes_text(static_cast<double>(free)),
                  bytes_text(static_cast<double>(options.scratch_bytes))));
}

Status measure(const MeasureOptions& options, MachineLimits& found) {
  return DiskMeasurement(options, found).run();
}

}  // namespace

extern const LimitKind entry;
const LimitKind entry = {
    .name = "disk",
    .summary = "reads and opens of files where the data lies",
    .check = check,
    .measure = measure,
};

}  // namespace trainscope::disk_limits
