// The terminal, by ncurses: the only file that knows it.
//
// Guarantees: it shows cells of a Grid, whose text is printable, and nothing else; close() and the
// destructor leave the terminal as it was. Limits: one at a time.
#pragma once

#include <memory>
#include <optional>

#include "tui/grid.h"
#include "tui/state.h"

namespace trainscope {

class Terminal {
 public:
  static Result<std::unique_ptr<Terminal>> open(Theme theme);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  Charset charset() const { return charset_; }
  int input_fd() const;
  ScreenSize size() const;
  // Is this process in the group that the terminal belongs to now?
  bool is_foreground() const;
  void paint(const Grid& grid);
  // Nothing if no key was pressed.
  std::optional<Key> read_key();
  // Gives the screen back, as before; the next paint() takes it again.
  void close();

 private:
  struct Curses;
  explicit Terminal(std::unique_ptr<Curses> curses, Charset charset, bool has_colours,
                    bool has_many);
  void use_colours(bool has_many);

  std::unique_ptr<Curses> curses_;
  Charset charset_;
  bool has_colours_;
  bool is_closed_ = false;
};

}  // namespace trainscope
