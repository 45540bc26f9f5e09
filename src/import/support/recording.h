// What importers share: whole text files by lines, and the head of an imported run.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/whole_run.h"

namespace trainscope {

struct TextLine {
  std::string_view text;  // without its end, blanks at both ends removed
  size_t number = 0;      // from 1
  bool is_torn = false;   // the last one, without a newline: its writer was stopped in it
};

// The lines of a text that are not blank.
std::vector<TextLine> filled_lines(std::string_view text);

// "FILE:LINE: what"
Error line_error(const std::string& file, size_t line, const std::string& what);

// A regular file, of at most a gigabyte.
Result<std::string> read_recording(const std::string& path);

// A run that was recorded by others: rows at equal nominal distances, no clock, no job of ours.
WholeRun imported_run(std::string_view format, const std::string& path, int64_t period_ns);

// Fills in what follows from the rows: how long it took.
void finish_rows(WholeRun& run);

}  // namespace trainscope
