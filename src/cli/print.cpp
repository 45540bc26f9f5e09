#include "cli/print.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/json.h"

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

// In a JSON document these occur in strings only, where they may be written as \uXXXX.
std::string without_controls(const std::string& json) {
  std::string out;
  for (size_t at = 0; at < json.size();) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(json[at + i]); };
    if (byte(0) >= 0x20 && byte(0) < 0x7F) {
      out += json[at++];
      continue;
    }
    const size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
    const std::string character = json.substr(at, length);
    at += length;
    if (character == "\n" || printable(character) == character) {
      out += character;
    } else if (length == 1) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(character[0]));
    } else {
      const auto bits = [&](size_t i) { return static_cast<unsigned char>(character[i]) & 0x3FU; };
      const unsigned lead = static_cast<unsigned char>(character[0]);
      const unsigned point = length == 2 ? ((lead & 0x1FU) << 6U) | bits(1)
                                         : ((lead & 0x0FU) << 12U) | (bits(1) << 6U) | bits(2);
      // U+FFFD replaces bytes that are not UTF-8; it does no harm.
      out += point == 0xFFFD || length == 4 ? character : fmt::format("\\u{:04x}", point);
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
