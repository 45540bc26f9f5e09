// Everything that this program prints goes through here.
//
// Guarantees: a terminal gets only text, newlines and our own few styles, whatever a run, a file
// name or an error contains: control characters, escape sequences and changes of the writing
// direction become `?`. Data for programs (JSON, CSV) is exact unless it goes to a terminal.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "base/json_fwd.h"
#include "base/result.h"
#include "base/text.h"

namespace trainscope {

// Text composed of several parts, with newlines and our styles: to stdout, to stderr.
void show_text(std::string_view text);
void print_message_text(std::string_view text);

// A line: the format is ours, and a text among the arguments stays on its line.
template <typename T>
decltype(auto) on_one_line(const T& argument) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return printable(argument);
  } else {
    return (argument);
  }
}
template <typename... T>
void show(fmt::format_string<T...> format, T&&... arguments) {
  show_text(fmt::vformat(format, fmt::make_format_args(on_one_line(arguments)...)));
}
template <typename... T>
void print_message(fmt::format_string<T...> format, T&&... arguments) {
  print_message_text(fmt::vformat(format, fmt::make_format_args(on_one_line(arguments)...)));
}

// "trainscope: MESSAGE" to stderr.
void print_error(std::string_view message);

// Data to stdout; an Error when it cannot take it.
Status write_stdout(std::string_view bytes);
Status flush_stdout();
// Replaces what is on the terminal of stdout by this text.
void redraw_text(std::string_view text);
// JSON as text in which no terminal finds anything to obey.
std::string json_text(const Json& document);
std::string json_text(const OrderedJson& document);
std::string json_line_text(const Json& document);

// The text that show_text sends to a terminal.
std::string terminal_text(std::string_view text);

}  // namespace trainscope
