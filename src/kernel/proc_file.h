// Kernel files read again and again: the descriptor stays open, each reading is one pread.
//
// Guarantees: no allocation after open; a failed read is empty, never the last one's text; content
// longer than the capacity loses its torn last line, so that no number is cut in the middle.
// Limits: one thread at a time for one file.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace trainscope {

class ProcFile {
 public:
  ProcFile() = default;
  // `capacity`: the most that is read; longer content is cut.
  Status open(const std::string& path, size_t capacity = 4096);
  bool is_open() const { return static_cast<bool>(fd_); }
  void close() { fd_.reset(); }
  // The current content, by one pread; empty if it cannot be read (see errno). Files that the
  // kernel writes record by record (vmstat, net/dev, mountinfo) return only a page at a time.
  std::string_view read();
  // The same for those: preads until the end, which costs one more.
  std::string_view read_all();
  // The first number of a one-value file, which may be negative; false if there is none.
  bool read_number(int64_t& value);

 private:
  std::string_view whole_lines(size_t size) const;
  UniqueFd fd_;
  std::vector<char> buffer_;
};

// Walks over numbers and words of a kernel text. Never reads past the end.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  bool done() const { return at_ == end_; }
  // Skips blanks, takes a decimal number. False, and `value` unchanged, if there is none or it does
  // not fit into an int64_t; such a number is skipped.
  bool number(int64_t& value) {
    skip_blanks();
    const char* begin = at_;
    uint64_t sum = 0;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') {
      sum = sum * 10 + static_cast<uint64_t>(*at_ - '0');
      ++at_;
    }
    if (at_ == begin) return false;
    // Eighteen digits fit always; only longer numbers are worth a second, careful look.
    if (at_ - begin > 18) return std::from_chars(begin, at_, value).ec == std::errc();
    value = static_cast<int64_t>(sum);
    return true;
  }
  // The same with an optional minus sign.
  bool signed_number(int64_t& value) {
    skip_blanks();
    const bool negative = take("-");
    if (!number(value)) return false;
    if (negative) value = -value;
    return true;
  }
  // Skips one blank-separated word.
  void skip_word() { word(); }
  // Takes one blank-separated word; empty at the end of the line.
  std::string_view word() {
    skip_blanks();
    const char* begin = at_;
    while (at_ != end_ && *at_ != ' ' && *at_ != '\t' && *at_ != '\n') ++at_;
    return {begin, static_cast<size_t>(at_ - begin)};
  }
  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  // Takes the rest of the line and moves to the next.
  std::string_view line() {
    const char* begin = at_;
    next_line();
    const char* end = at_ != begin && at_[-1] == '\n' ? at_ - 1 : at_;
    return {begin, static_cast<size_t>(end - begin)};
  }
  void next_line() {
    if (at_ == end_) return;
    const void* newline = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
    at_ = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
  }
  // True and moved past it if the text continues with `word`.
  bool take(std::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size()) return false;
    // Most words differ in their first byte: no call for those.
    if (!word.empty() && *at_ != word.front()) return false;
    if (std::string_view(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }

 private:
  const char* at_;
  const char* end_;
};

// Of a /proc/PID/statm; empty when it cannot be read.
std::optional<int64_t> resident_pages(ProcFile& statm);

// The first line of a file that may not be there, without its newline.
std::string line_or_empty(const std::string& path);

// "no permission to read /x" / "/x does not exist": the reason of a failed open, as text.
std::string read_error_text(const std::string& path, const Error& error);

}  // namespace trainscope
