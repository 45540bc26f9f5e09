#include "tui/terminal.h"

// Macros of ncurses would replace names such as `move` and `clear` everywhere below.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <fcntl.h>
#include <fmt/format.h>
#include <langinfo.h>
#include <ncurses.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"

// As <term.h> declares it, whose macros would replace `tab` and `columns`.
extern "C" int setupterm(const char* term, int fd, int* found);

namespace trainscope {

namespace {

constexpr const char* kInstead = "; try: trainscope info --follow";
constexpr int kEscapeDelayMs = 50;  // after which an escape is a key, not the begin of one

std::string variable_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// ncurses writes UTF-8 only in a locale of UTF-8. The one that the user named may not be installed
// here; another of UTF-8 does as well, because only the encoding matters.
Charset set_encoding() {
  if (charset_from_environment() == Charset::ascii) return Charset::ascii;
  for (const char* name : {"", "C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
    if (std::setlocale(LC_CTYPE, name) == nullptr) continue;
    if (std::string_view(::nl_langinfo(CODESET)) == "UTF-8") return Charset::utf8;
  }
  std::setlocale(LC_CTYPE, "C");
  return Charset::ascii;
}

// Pairs of colours, by what a cell means: chosen to differ for colour-blind people too.
struct LookColour {
  Look look;
  short ansi, many;  // of 8 and of 256 colours
};
constexpr std::array<LookColour, 6> kLookColours = {{{Look::good, COLOR_GREEN, 36},
                                                     {Look::warning, COLOR_YELLOW, 214},
                                                     {Look::critical, COLOR_RED, 166},
                                                     {Look::plot, COLOR_CYAN, 74},
                                                     {Look::plot_of_training, COLOR_YELLOW, 179},
                                                     {Look::plot_of_gpu, COLOR_GREEN, 36}}};

short pair_of(Look look) {
  for (size_t i = 0; i < kLookColours.size(); ++i) {
    if (kLookColours[i].look == look) return static_cast<short>(i + 1);
  }
  return 0;
}

// Without colours a cell's meaning is still visible, and its text says it in any case.
attr_t attributes_of(Look look) {
  switch (look) {
    case Look::dim:
      return A_DIM;
    case Look::strong:
    case Look::warning:
    case Look::critical:
      return A_BOLD;
    case Look::bar:
      return A_REVERSE;
    default:
      return A_NORMAL;
  }
}

std::optional<Key> key_of_code(wint_t code) {
  switch (code) {
    case KEY_LEFT:
      return Key{KeyKind::left};
    case KEY_RIGHT:
      return Key{KeyKind::right};
    case KEY_UP:
      return Key{KeyKind::up};
    case KEY_DOWN:
      return Key{KeyKind::down};
    case KEY_PPAGE:
      return Key{KeyKind::page_up};
    case KEY_NPAGE:
      return Key{KeyKind::page_down};
    case KEY_HOME:
      return Key{KeyKind::home};
    case KEY_END:
      return Key{KeyKind::end};
    case KEY_BTAB:
      return Key{KeyKind::back_tab};
    case KEY_ENTER:
      return Key{KeyKind::enter};
    case KEY_BACKSPACE:
      return Key{KeyKind::backspace};
    default:
      return std::nullopt;
  }
}

void append_utf8(std::string& out, wint_t point) {
  std::array<char, 8> bytes{};
  std::mbstate_t state{};
  const size_t count = std::wcrtomb(bytes.data(), static_cast<wchar_t>(point), &state);
  if (count != static_cast<size_t>(-1)) out.append(bytes.data(), count);
}

std::optional<Key> key_of_character(wint_t point) {
  if (point == '\t') return Key{KeyKind::tab};
  if (point == '\n' || point == '\r') return Key{KeyKind::enter};
  if (point == 27) return Key{KeyKind::escape};
  if (point == 127 || point == 8) return Key{KeyKind::backspace};
  if (point < 32) return std::nullopt;
  Key key;
  append_utf8(key.text, point);
  return key.text.empty() ? std::nullopt : std::optional(key);
}

}  // namespace

struct Terminal::Curses {
  SCREEN* screen = nullptr;
  std::FILE* input = nullptr;  // opened here; null: stdin

  Curses() = default;
  Curses(const Curses&) = delete;
  Curses& operator=(const Curses&) = delete;
  ~Curses() {
    if (screen != nullptr) ::delscreen(screen);
    if (input != nullptr) std::fclose(input);
  }
};

Status check_screen() {
  const std::string term = variable_text("TERM");
  if (::isatty(STDOUT_FILENO) != 1) {
    return Error("stdout is not a terminal; try: trainscope info");
  }
  if (term.empty() || term == "dumb") {
    return Error(fmt::format("this terminal (TERM={}) cannot show a screen{}", term, kInstead));
  }
  int found = 0;
  if (::setupterm(term.c_str(), STDOUT_FILENO, &found) != OK) {
    return Error(
        fmt::format("no description of the terminal '{}' is installed here{}, or set "
                    "TERM to one that is (xterm, linux)",
                    printable(term), kInstead));
  }
  const char* move = ::tigetstr("cup");
  const bool can_move = move != nullptr && move != reinterpret_cast<const char*>(-1);
  if (can_move) return {};
  return Error(
      fmt::format("this terminal (TERM={}) cannot show a screen{}", printable(term), kInstead));
}

Result<std::unique_ptr<Terminal>> Terminal::open(Theme theme) {
  TS_CHECK_OK(check_screen());
  auto curses = std::make_unique<Curses>();
  if (::isatty(STDIN_FILENO) != 1) {
    curses->input = std::fopen("/dev/tty", "re");
    if (curses->input == nullptr) {
      return Error(
          fmt::format("stdin is not a terminal, and there is no other to read keys{}", kInstead));
    }
  }
  const Charset charset = set_encoding();
  ::set_escdelay(kEscapeDelayMs);
  curses->screen = ::newterm(nullptr, stdout, curses->input == nullptr ? stdin : curses->input);
  if (curses->screen == nullptr) return Error(std::string("cannot open the terminal") + kInstead);
  ::set_term(curses->screen);
  const bool is_mono = theme == Theme::mono || !variable_text("NO_COLOR").empty();
  const bool has_colours = !is_mono && ::has_colors();
  const bool has_many = theme == Theme::automatic && ::tigetnum("colors") >= 256;
  return std::unique_ptr<Terminal>(new Terminal(std::move(curses), charset, has_colours, has_many));
}

Terminal::Terminal(std::unique_ptr<Curses> curses, Charset charset, bool has_colours, bool has_many)
    : curses_(std::move(curses)), charset_(charset), has_colours_(has_colours) {
  ::cbreak();  // the keys for signals stay what they are
  ::noecho();
  ::nonl();
  ::curs_set(0);
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::scrollok(stdscr, FALSE);
  if (has_colours_) use_colours(has_many);
}

Terminal::~Terminal() { close(); }

void Terminal::use_colours(bool has_many) {
  ::start_color();
  ::use_default_colors();
  for (const LookColour& each : kLookColours) {
    ::init_pair(pair_of(each.look), has_many ? each.many : each.ansi, -1);
  }
}

int Terminal::input_fd() const {
  return curses_->input == nullptr ? STDIN_FILENO : ::fileno(curses_->input);
}

ScreenSize Terminal::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
    return {size.ws_row, size.ws_col};
  }
  return {std::max(1, getmaxy(stdscr)), std::max(1, getmaxx(stdscr))};
}

bool Terminal::is_foreground() const {
  const pid_t group = ::tcgetpgrp(input_fd());
  return group < 0 || group == ::getpgrp();  // -1: not our controlling terminal
}

void Terminal::paint(const Grid& grid) {
  const ScreenSize size = grid.size();
  if (::is_term_resized(size.rows, size.columns)) {
    ::resizeterm(size.rows, size.columns);
    ::clearok(stdscr, TRUE);
  }
  // Others have written to the screen since it was closed.
  if (std::exchange(is_closed_, false)) ::clearok(curscr, TRUE);
  ::werase(stdscr);
  for (int row = 0; row < size.rows; ++row) {
    for (int column = 0; column < size.columns; ++column) {
      const Cell& cell = grid.at(row, column);
      if (cell.text.empty() || (cell.text == " " && cell.look != Look::bar)) continue;
      std::array<wchar_t, CCHARW_MAX + 1> text{};
      size_t used = 0;
      for (std::string_view rest = cell.text; !rest.empty() && used < CCHARW_MAX;) {
        text[used++] = static_cast<wchar_t>(take_code_point(rest));
      }
      cchar_t shown{};
      ::setcchar(&shown, text.data(), attributes_of(cell.look),
                 has_colours_ ? pair_of(cell.look) : static_cast<short>(0), nullptr);
      ::mvwadd_wch(stdscr, row, column, &shown);
    }
  }
  ::wrefresh(stdscr);
}

std::optional<Key> Terminal::read_key() {
  if (is_closed_) return std::nullopt;  // reading would take the screen again
  for (;;) {
    wint_t code = 0;
    const int kind = ::wget_wch(stdscr, &code);
    if (kind == ERR) return std::nullopt;
    auto key = kind == KEY_CODE_YES ? key_of_code(code) : key_of_character(code);
    if (key) return key;
  }
}

void Terminal::close() {
  if (!::isendwin()) ::endwin();
  is_closed_ = true;
}

}  // namespace trainscope
