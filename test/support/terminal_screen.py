"""What a terminal shows of the bytes that were written to it, as far as the status line needs it.

Lines that are too long are in several rows, and a change of the width sorts them into rows again, with the cursor at the
same character, as most terminals do it. Known sequences: CR, LF, colours, erase to the end of the row (K) or of the screen (J).
"""
import re

TOKEN = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n])")


class Screen:
    def __init__(self, columns):
        self.columns = columns
        self.lines = [[]]  # one list of characters per line, of any length
        self.line, self.at = 0, 0  # the cursor
        self.is_full = False  # the last column was written: the next character begins a row

    def row_begin(self):
        at = self.at - 1 if self.is_full else self.at
        return at // self.columns * self.columns

    def put(self, character):
        line = self.lines[self.line]
        line.extend(" " * (self.at - len(line)))
        line[self.at:self.at + 1] = [character]
        self.at += 1
        self.is_full = self.at % self.columns == 0

    def control(self, character):
        if character == "\r":
            self.at = self.row_begin()
        else:
            self.line, self.at = self.line + 1, self.at - self.row_begin()
            while self.line >= len(self.lines):
                self.lines.append([])
        self.is_full = False

    def erase(self, what):
        line = self.lines[self.line]
        end = len(line) if what == "J" else min(len(line), self.row_begin() + self.columns)
        line[self.at:end] = " " * max(0, end - self.at)
        if what == "J":
            del self.lines[self.line + 1:]

    def feed(self, data):
        for match in TOKEN.finditer(data.decode(errors="replace")):
            _, sequence, control, character = match.groups()
            if sequence in ("J", "K"):
                self.erase(sequence)
            elif control:
                self.control(control)
            elif character:
                self.put(character)

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines)
