#include "import/support/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/fd.h"
#include "base/text.h"
#include "version.h"

namespace trainscope {

namespace {

constexpr size_t kChunkBytes = size_t{64} << 10;

}  // namespace

Result<LineReader> LineReader::open(const std::string& path) {
  LineReader reader(path);
  TS_TRY(reader.fd_, open_regular_file(path));
  return reader;
}

Status LineReader::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t have = buffer_.size();
  buffer_.resize(have + kChunkBytes);
  ssize_t n = -1;
  do {
    n = ::read(fd_.get(), buffer_.data() + have, kChunkBytes);
  } while (n < 0 && errno == EINTR);
  buffer_.resize(have + static_cast<size_t>(std::max<ssize_t>(0, n)));
  if (n < 0) return Error::from_errno("cannot read " + path_, errno);
  is_over_ = n == 0;
  return {};
}

Result<bool> LineReader::next(TextLine& line) {
  for (;;) {
    const size_t end = buffer_.find('\n', at_);
    const bool is_torn = end == std::string::npos;
    const size_t length = (is_torn ? buffer_.size() : end) - at_;
    if (length > kMaxLineBytes) {
      return line_error(path_, number_ + 1,
                        fmt::format("it is longer than {} bytes", kMaxLineBytes));
    }
    if (is_torn && !is_over_) {
      TS_CHECK_OK(fill());
      continue;
    }
    if (is_torn && length == 0) return false;
    line = {trim(std::string_view(buffer_).substr(at_, length)), ++number_, is_torn};
    at_ += length + (is_torn ? 0 : 1);
    if (!line.text.empty()) return true;
  }
}

Error line_error(const std::string& file, size_t line, const std::string& what) {
  return Error(fmt::format("{}:{}: {}", file, line, what));
}

RunData imported_run(std::string_view format, const std::string& path, int64_t period_ns) {
  RunData run;
  run.source = format;
  Manifest& m = run.manifest;
  m.imported_format = format;
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error).lexically_normal();
  m.imported_path = error ? path : absolute.string();
  m.period_ns = period_ns;
  m.ended_by = EndedBy::unknown;
  m.trainscope_version = kVersion;
  return run;
}

}  // namespace trainscope
