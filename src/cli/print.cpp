#include "cli/print.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/json.h"
#include "base/utf8.h"

namespace trainscope {

namespace {

// Bold, dim, colours and their end: all that we ever send.
constexpr std::array<std::string_view, 6> kStyles = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m",
                                                     "\x1b[31m", "\x1b[32m", "\x1b[33m"};

// How many bytes at `at` may be sent unchanged: a newline or one of our styles.
size_t own_bytes(std::string_view text, size_t at) {
  if (text[at] == '\n') return 1;
  if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') return 2;  // of CSV
  for (const std::string_view style : kStyles) {
    if (text.substr(at, style.size()) == style) return style.size();
  }
  return 0;
}

void write_to(std::FILE* stream, std::string_view text) {
  const std::string safe = terminal_text(text);
  (void)std::fwrite(safe.data(), 1, safe.size(),
                    stream);  // finish() reports bytes that stdout did not take
}

// In a JSON document these occur in strings only, where they may be written as \uXXXX: all of them
// are below U+10000.
std::string without_controls(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    const std::string_view before = json;
    const char32_t point = take_code_point(json);
    const std::string_view character = before.substr(0, before.size() - json.size());
    const bool is_ascii_text = point >= 0x20 && point < 0x7F;
    // U+FFFD replaces bytes that are not UTF-8; it does no harm.
    if (is_ascii_text || point == '\n' ||
        (point == kReplacementCharacter && character.size() > 1) ||
        printable(character) == character) {
      out += character;
    } else {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(point));
    }
  }
  return out;
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string out;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t own = own_bytes(text, at);
    if (own == 0) {
      ++at;
      continue;
    }
    out += printable(text.substr(begin, at - begin));
    out += text.substr(at, own);
    begin = at += own;
  }
  return out + printable(text.substr(begin));
}

void show_text(std::string_view text) { write_to(stdout, text); }
void print_message_text(std::string_view text) { write_to(stderr, text); }
void print_error(std::string_view message) { print_message("trainscope: {}\n", message); }

Status write_stdout(std::string_view bytes) {
  const std::string shown = ::isatty(STDOUT_FILENO) == 1 ? terminal_text(bytes) : "";
  if (!shown.empty()) bytes = shown;
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
  return Error::from_errno("cannot write the output", errno);
}

Status flush_stdout() {
  if (std::fflush(stdout) == 0) return {};
  return Error::from_errno("cannot write the output", errno);
}

void redraw_text(std::string_view text) {
  constexpr std::string_view kClear = "\x1b[H\x1b[2J";  // home, then erase the screen
  (void)std::fwrite(kClear.data(), 1, kClear.size(), stdout);
  show_text(text);
}

std::string json_text(const Json& document) { return without_controls(dump_json(document, 2)); }

std::string json_line_text(const Json& document) { return without_controls(dump_json(document)); }

std::string json_text(const OrderedJson& document) {
  return without_controls(dump_json(document, 2));
}

}  // namespace trainscope
