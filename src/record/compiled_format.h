// A pattern for a printed line, compiled; the numbers of its named groups.
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/printed.h"

namespace trainscope {

struct PrintedMatch {
  std::map<std::string, double, std::less<>> numbers;  // by group; those that are numbers
  std::string_view rest;                               // of the line, behind the match
  std::optional<double> find(std::string_view group) const;
};

class CompiledFormat {
 public:
  static Result<std::unique_ptr<CompiledFormat>> compile(const PrintedFormat& format,
                                                         const std::string& pattern);

  std::optional<PrintedMatch> match(std::string_view line) const;
  const PrintedFormat& format() const { return format_; }
  bool has_group(const char* name) const;

 private:
  struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  };
  struct FreeData {
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  };

  PrintedFormat format_;
  std::unique_ptr<pcre2_code, FreeCode> code_;
  std::unique_ptr<pcre2_match_data, FreeData> data_;
};

// A pattern of the table with what its words stand for.
std::string written_out(std::string_view pattern);

}  // namespace trainscope
