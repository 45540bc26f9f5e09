// The common part of importers: text files line by line, and the head of an imported run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "format/format.h"

namespace trainscope {

struct TextLine {
  std::string_view text;  // without its end, blanks at both ends removed
  size_t number = 0;      // from 1
  bool is_torn = false;   // the last one, without a newline: its writer was stopped in it
};

// The lines of a regular file that are not blank, from the first on. Memory is that of the longest
// line, and one that is longer than kMaxLineBytes is an Error: no tool writes such a line.
class LineReader {
 public:
  static constexpr size_t kMaxLineBytes = size_t{64} << 10;

  static Result<LineReader> open(const std::string& path);
  // False after the last line. The text is valid until the next call.
  Result<bool> next(TextLine& line);

 private:
  explicit LineReader(std::string path) : path_(std::move(path)) {}
  Status fill();

  std::string path_;
  UniqueFd fd_;
  std::string buffer_;
  size_t at_ = 0;  // bytes before it in the buffer were returned already
  size_t number_ = 0;
  bool is_over_ = false;  // the file has no more
};

// "FILE:LINE: what"
Error line_error(const std::string& file, size_t line, const std::string& what);

// A run recorded by another tool: rows at equal nominal intervals, no clock, no job.
RunData imported_run(std::string_view format, const std::string& path, int64_t period_ns);

}  // namespace trainscope
