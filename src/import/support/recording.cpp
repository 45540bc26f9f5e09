#include "import/support/recording.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "store/files.h"
#include "version.h"

namespace trainscope {

namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

}  // namespace

std::vector<TextLine> filled_lines(std::string_view text) {
  std::vector<TextLine> lines;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const bool torn = end == std::string_view::npos;
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(torn ? text.size() : end + 1);
    ++number;
    if (!line.empty()) lines.push_back({line, number, torn});
  }
  return lines;
}

Error line_error(const std::string& file, size_t line, const std::string& what) {
  return Error(fmt::format("{}:{}: {}", file, line, what));
}

Result<std::string> read_recording(const std::string& path) {
  return read_regular_file(path, kMaxBytes);
}

WholeRun imported_run(std::string_view format, const std::string& path, int64_t period_ns) {
  WholeRun run;
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

void finish_rows(WholeRun& run) {
  const int64_t last = run.rows.empty() ? 0 : run.rows.back().tick;
  run.manifest.duration_s =
      static_cast<double>(last) * static_cast<double>(run.manifest.period_ns) / 1e9;
}

}  // namespace trainscope
