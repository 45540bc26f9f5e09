#include "data/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace trainscope::workload {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 30;
constexpr std::size_t kMaxWrite = std::size_t{1} << 30;

Error fault(Fault kind, const std::filesystem::path& file, const std::string& what) {
  return {kind, file.string() + ": " + what};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }

 private:
  int number_;
};

bool write_all(int descriptor, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::size_t chunk = std::min(bytes.size(), kMaxWrite);
    const ssize_t written = write(descriptor, bytes.data(), chunk);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::vector<std::uint8_t>> read_whole_file(const std::filesystem::path& file) {
  const Descriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (descriptor.get() < 0 || fstat(descriptor.get(), &status) != 0) {
    return fault(Fault::kBadInput, file, std::string("cannot open: ") + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) return fault(Fault::kBadInput, file, "not a regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxBytes) return fault(Fault::kBadInput, file, "larger than 4 GiB");
  std::vector<std::uint8_t> bytes(size);
  std::size_t had = 0;
  while (had < bytes.size()) {
    const ssize_t got = read(descriptor.get(), bytes.data() + had, bytes.size() - had);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fault(Fault::kBadInput, file, std::strerror(errno));
    if (got == 0) return fault(Fault::kBadInput, file, "became shorter while it was read");
    had += static_cast<std::size_t>(got);
  }
  return bytes;
}

Status write_whole_file(const std::filesystem::path& file,
                        std::span<const std::span<const std::uint8_t>> pieces) {
  std::string name = file.string() + ".XXXXXX";
  const Descriptor descriptor(mkostemp(name.data(), O_CLOEXEC));
  if (descriptor.get() < 0) {
    return fault(Fault::kBadInput, file, std::string("cannot write: ") + std::strerror(errno));
  }
  bool good = fchmod(descriptor.get(), 0644) == 0;
  for (const std::span<const std::uint8_t> piece : pieces) {
    good = good && write_all(descriptor.get(), piece);
  }
  good = good && fsync(descriptor.get()) == 0 && rename(name.c_str(), file.c_str()) == 0;
  if (good) return Done{};
  const std::string reason = std::strerror(errno);
  unlink(name.c_str());
  return fault(Fault::kFailed, file, "cannot write: " + reason);
}

}  // namespace trainscope::workload
