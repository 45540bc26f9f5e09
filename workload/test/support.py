"""What the workload's tests share: running the program, a pipe to read, and why a test cannot run."""

import fcntl
import os
import subprocess
import sys

F_SETPIPE_SZ = 1031  # fcntl has it from Python 3.10 on
PIPE_BYTES = 1 << 20  # as the recorder makes it
NUMBER = r"(\d+(?:\.\d+)?)"

program = ""


def run(*arguments, timeout=600, **keywords):
    return subprocess.run([program, *arguments], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, check=False, **keywords)


def run_with_pipe(folder, *arguments, **keywords):
    """(result, lines): what the program sent through the progress pipe, all of it if it is less than PIPE_BYTES."""
    fifo = os.path.join(folder, "progress")
    os.mkfifo(fifo, 0o600)
    # Open for both, as a recorder does: it never blocks and a message is never lost to EPIPE.
    reader = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(reader, F_SETPIPE_SZ, PIPE_BYTES)
    try:
        result = run(*arguments, env={**os.environ, "TRAINSCOPE_PIPE": fifo}, **keywords)
        return result, os.read(reader, PIPE_BYTES).decode().splitlines()
    finally:
        os.close(reader)
        os.unlink(fifo)


def matches(pattern, text):
    return [m.groups() for m in map(pattern.fullmatch, text.splitlines()) if m]


def cannot_run(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def take_program():
    """The program's path is the first argument; exits 77, with the reason, where it does not run."""
    global program
    if len(sys.argv) < 2:
        cannot_run("no program given (usage: NAME_test.py PATH-OF-trainscope-workload)")
    program = os.path.abspath(sys.argv.pop(1))
    if not os.access(program, os.X_OK):
        cannot_run(f"{program} is not there: build the workload first")
    if run("--help").returncode == 127:
        cannot_run(f"{program} does not start: its libtorch is gone (scripts/fetch-libtorch)")
