// Guesses a pattern for --steps-from from printed lines in which no steps were found.
//
// It looks for a text that is often followed by an integer that grows: "it=1 …", "it=2 …". The
// guess is checked against a line that was printed, and includes the loss if each of these lines
// names it after the integer. Lines of stack traces are left out. Limits: the first 5,000 lines of
// at most 1,024 bytes, four integers per line, 256 texts; one thread at a time. Only counts are
// stored, and the last line of each text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace trainscope {

class StepsGuess {
 public:
  void observe(std::string_view line);
  // A valid pattern with the group `step` (or `epoch`), or nothing if no such lines were printed.
  std::string pattern() const;

 private:
  // An integer, and the text before it: from the previous number or the beginning of the line.
  struct Integer {
    std::string text;
    int64_t value = 0;
    size_t end = 0;  // of the digits
  };
  struct Seen {
    int64_t last = 0, last_increment = 0;
    int count = 0, grown = 0, regular = 0;
    int with_loss = 0;  // lines that name a loss after the integer
    std::string line;
  };

  void count(const Integer& integer, std::string_view line);
  static double score(const std::string& text, const Seen& seen);

  std::map<std::string, Seen> seen_;  // by text
  int lines_ = 0;
};

}  // namespace trainscope
