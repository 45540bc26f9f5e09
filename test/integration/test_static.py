"""The program is one static file: it names no interpreter and no library, and works where nothing else is."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

BIN = os.environ.get("TRAINSCOPE_BIN", "build/trainscope")
PT_DYNAMIC, PT_INTERP, DT_NEEDED = 2, 3, 1


def elf_program_headers(data):
    """(type, offset, size in file) of each program header of a 64-bit little-endian ELF."""
    assert data[:6] == b"\x7fELF\x02\x01", "not a 64-bit little-endian ELF file"
    offset, = struct.unpack_from("<Q", data, 32)
    entry_size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        at = offset + i * entry_size
        kind, = struct.unpack_from("<I", data, at)
        file_offset, = struct.unpack_from("<Q", data, at + 8)
        file_size, = struct.unpack_from("<Q", data, at + 32)
        yield kind, file_offset, file_size


def check_elf(path):
    with open(path, "rb") as file:
        data = file.read()
    for kind, offset, size in elf_program_headers(data):
        assert kind != PT_INTERP, f"{path} names an interpreter: {data[offset:offset + size]}"
        if kind == PT_DYNAMIC:
            tags = [tag for tag, _ in struct.iter_unpack("<qQ", data[offset:offset + size])]
            assert DT_NEEDED not in tags, f"{path} needs shared libraries"


def in_chroot(root, *words, proc=False):
    """Runs the only file of an otherwise empty root; with proc, the kernel's own files are there too."""
    command = ["chroot", root, "/trainscope", *words]
    if proc:
        command = ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$1/proc" && shift && exec "$@"', "sh", root,
                   *command]
    return subprocess.run(command, env={"TRAINSCOPE_HOME": "/runs", "PATH": os.environ["PATH"]},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def main():
    check_elf(BIN)
    # The check itself is shown to catch: what runs this is not static.
    try:
        check_elf(os.path.realpath("/bin/sh"))
    except AssertionError:
        pass
    else:
        raise AssertionError("a dynamic program passed for a static one")

    if os.geteuid() != 0:
        print("skipped: the ELF file is static; chroot needs root")
        return 77
    with tempfile.TemporaryDirectory() as root:
        shutil.copy(BIN, os.path.join(root, "trainscope"))
        done = in_chroot(root, "--version")
        assert done.returncode == 0 and done.stdout.startswith("trainscope "), done

        if subprocess.run([BIN, "run", "--help"], capture_output=True).returncode != 0:
            print("skipped: static and works in an empty root; there is no `run` yet to try there")
            return 77
        os.mkdir(os.path.join(root, "proc"))
        done = in_chroot(root, "run", "--", "/trainscope", "--version", proc=True)
        if "unshare: " in done.stderr:
            print("skipped: static and works in an empty root; no mounts of our own here: " + done.stderr.strip())
            return 77
        assert done.returncode == 0, done
        assert done.stdout.startswith("trainscope "), done
        assert os.listdir(os.path.join(root, "runs")), "no run was recorded"
    return 0


sys.exit(main())
