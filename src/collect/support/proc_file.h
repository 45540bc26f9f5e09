// Kernel files read again and again: the descriptor stays open, each reading is one pread.
//
// Guarantees: no allocation after open; a torn or failed read is empty, never the last one's text.
// Limits: one thread at a time for one file.
#pragma once

#include <cstdint>
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
  // The content now; empty when it cannot be read (errno tells).
  std::string_view read();

 private:
  UniqueFd fd_;
  std::vector<char> buffer_;
};

// Walks over numbers and words of a kernel text. Never reads past the end.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  bool done() const { return at_ == end_; }
  // Skips blanks, takes a decimal number; false (and no move past blanks) when there is none.
  bool number(int64_t& value) {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
    if (at_ == end_ || *at_ < '0' || *at_ > '9') return false;
    uint64_t sum = 0;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') {
      sum = sum * 10 + static_cast<uint64_t>(*at_ - '0');
      ++at_;
    }
    value = static_cast<int64_t>(sum);
    return true;
  }
  // Skips one blank-separated word.
  void skip_word() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
    while (at_ != end_ && *at_ != ' ' && *at_ != '\t' && *at_ != '\n') ++at_;
  }
  void next_line() {
    while (at_ != end_ && *at_ != '\n') ++at_;
    if (at_ != end_) ++at_;
  }
  // True and moved behind it when the text goes on with `word`.
  bool take(std::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size()) return false;
    if (std::string_view(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }

 private:
  const char* at_;
  const char* end_;
};

// "no permission to read /x" / "there is no /x here": the reason of a failed open, in words.
std::string why_unreadable(const std::string& path, const Error& error);

}  // namespace trainscope
