// The words of a shell command, with their positions in it.
//
// Guarantees: linear in the length of the line; a quote without its partner is an ordinary
// character. Limits: nothing is expanded, and here-documents are split as if they were commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

struct ShellWord {
  size_t begin = 0, end = 0;       // in the line, with quotes
  std::string text;                // without quotes and escapes
  bool has_escaped_quote = false;  // outside of quotes
  bool begins_command = false;     // first, or after ; | && or the end of a line
};

std::vector<ShellWord> split_shell_line(std::string_view line);

// `text` in the quotes that enclose all of `raw`, in other quotes if it needs them, or without.
std::string quote_like(std::string_view raw, std::string_view text);

}  // namespace trainscope
