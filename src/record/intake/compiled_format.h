// A pattern for a printed line, compiled; the numbers of its named groups.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "parse/parse.h"
#include "record/intake/printed.h"

namespace trainscope {

struct PrintedMatch {
  std::vector<std::pair<std::string_view, double>> numbers;  // by group; those that are numbers
  std::optional<double> find(std::string_view group) const;
};

class CompiledFormat {
 public:
  static Result<CompiledFormat> compile(const PrintedFormat& format, const std::string& pattern);

  // `match` is filled if the answer is yes.
  Pattern::Answer match(std::string_view line, PrintedMatch& match) const;
  const PrintedFormat& format() const { return format_; }
  bool has_groups() const { return !groups_.empty(); }
  bool has_group(const char* name) const { return pattern_.group_number(name) > 0; }

 private:
  CompiledFormat(PrintedFormat format, Pattern pattern);

  PrintedFormat format_;
  Pattern pattern_;
  std::vector<std::pair<const char*, size_t>> groups_;  // those that it has, with their numbers
};

// Has the line the texts without which it cannot match?
bool may_match(const PrintedFormat& format, std::string_view line);
// A pattern of the table with its placeholders expanded.
std::string expand_placeholders(std::string_view pattern);

}  // namespace trainscope
