"""Keeps the very bytes that a program prints, stdout and stderr together, through a pipe or a terminal.

  capture.py pipe|pty FILE COMMAND…     (the terminal has 24 rows and 100 columns)
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios


def main():
    kind, file, *command = sys.argv[1:]
    if kind == "pty":
        read, write = pty.openpty()
        fcntl.ioctl(write, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    else:
        read, write = os.pipe()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=write, stderr=write,
                               start_new_session=True)
    os.close(write)
    with open(file, "wb") as out:
        while True:
            try:
                piece = os.read(read, 65536)
            except OSError:  # A terminal whose other end is closed.
                break
            if not piece:
                break
            out.write(piece)
    sys.exit(process.wait())


main()
