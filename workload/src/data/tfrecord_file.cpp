#include "data/tfrecord_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/interrupted.h"
#include "parse/parse.h"

namespace trainscope::workload {
namespace {

constexpr std::uint64_t kMaxRecord = std::uint64_t{256} << 20;

}  // namespace

TfrecordFile::TfrecordFile(std::filesystem::path path, UniqueFd descriptor)
    : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

Result<std::shared_ptr<const TfrecordFile>> TfrecordFile::open(const std::filesystem::path& file) {
  UniqueFd descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!descriptor || fstat(descriptor.get(), &status) != 0) {
    return Error(file.string() + ": cannot open: " + std::strerror(errno));
  }
  std::shared_ptr<TfrecordFile> opened(new TfrecordFile(file, std::move(descriptor)));
  TS_CHECK_OK(opened->index(static_cast<std::uint64_t>(status.st_size)));
  return std::shared_ptr<const TfrecordFile>(std::move(opened));
}

Error TfrecordFile::fault(std::uint64_t offset, const std::string& what) const {
  return Error(path_.string() + ": offset " + std::to_string(offset) + ": " + what);
}

Status TfrecordFile::fill(std::uint64_t offset, std::span<char> bytes) const {
  std::size_t had = 0;
  while (had < bytes.size()) {
    const ssize_t got = retry_interrupted([&] {
      return pread(descriptor_.get(), bytes.data() + had, bytes.size() - had,
                   static_cast<off_t>(offset + had));
    });
    if (got < 0) return fault(offset, std::strerror(errno));
    if (got == 0) return fault(offset, "the file ends inside a record");
    had += static_cast<std::size_t>(got);
  }
  return {};
}

Status TfrecordFile::index(std::uint64_t size) {
  while (offsets_.back() < size) {
    const std::uint64_t offset = offsets_.back();
    std::array<char, kTfHeaderBytes> header{};
    TS_CHECK_OK(fill(offset, header));
    const TfRecord record = look_at_tf_record({header.data(), header.size()});
    if (record.look == TfLook::damaged) {
      return fault(offset, "not a TFRecord (the CRC of the length is wrong)");
    }
    if (record.length > kMaxRecord) return fault(offset, "a record of more than 256 MiB");
    if (record.bytes() > size - offset) return fault(offset, "the file ends inside a record");
    offsets_.push_back(offset + record.bytes());
  }
  return {};
}

Result<std::string> TfrecordFile::read(std::size_t index) const {
  const std::uint64_t offset = offsets_[index];
  std::string bytes(offsets_[index + 1] - offset, '\0');
  TS_CHECK_OK(fill(offset, bytes));
  const TfRecord record = look_at_tf_record(bytes);
  if (record.look != TfLook::whole) return fault(offset, "damaged record (wrong CRC)");
  return std::string(record.data);
}

}  // namespace trainscope::workload
