#include "data/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/interrupted.h"
#include "errors.h"

namespace trainscope::workload {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 30;

Error fault(const std::filesystem::path& file, const std::string& what) {
  return Error(file.string() + ": " + what);
}

std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status write_pieces(int descriptor, std::span<const std::span<const std::uint8_t>> pieces) {
  for (const std::span<const std::uint8_t> piece : pieces) {
    TS_CHECK_OK(write_all(descriptor, as_text(piece)));
  }
  if (fsync(descriptor) != 0) return Error::from_errno("cannot write", errno);
  return {};
}

}  // namespace

Result<std::vector<std::uint8_t>> read_whole_file(const std::filesystem::path& file) {
  const UniqueFd descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!descriptor || fstat(descriptor.get(), &status) != 0) {
    return fault(file, std::string("cannot open: ") + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) return fault(file, "not a regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxBytes) return fault(file, "larger than 4 GiB");
  std::vector<std::uint8_t> bytes(size);
  std::size_t had = 0;
  while (had < bytes.size()) {
    const ssize_t got = retry_interrupted(
        [&] { return read(descriptor.get(), bytes.data() + had, bytes.size() - had); });
    if (got < 0) return fault(file, std::strerror(errno));
    if (got == 0) return fault(file, "became shorter while it was read");
    had += static_cast<std::size_t>(got);
  }
  return bytes;
}

Status write_whole_file(const std::filesystem::path& file,
                        std::span<const std::span<const std::uint8_t>> pieces) {
  std::string name = file.string() + ".XXXXXX";
  const UniqueFd descriptor(mkostemp(name.data(), O_CLOEXEC));
  if (!descriptor) return fault(file, std::string("cannot write: ") + std::strerror(errno));
  Status written = write_pieces(descriptor.get(), pieces);
  const bool in_place =
      written && fchmod(descriptor.get(), 0644) == 0 && rename(name.c_str(), file.c_str()) == 0;
  if (in_place) return {};
  const std::string reason =
      written ? std::string("cannot write: ") + std::strerror(errno) : written.error().message();
  unlink(name.c_str());
  return run_failure(file.string() + ": " + reason);
}

}  // namespace trainscope::workload
