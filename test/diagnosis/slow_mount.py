"""Runs a command that sees a slow file system: `slow_mount.py FOLDER BYTES_PER_SECOND COMMAND…`.

FOLDER has one file, `data`, of 64 GiB. The file system is served by this process over /dev/fuse, and mounted in a mount
namespace of its own, so nothing of it outlives the command. Needs root. Exit code: that of the command, or 77 with the
reason if this machine does not allow it.
"""
import ctypes
import errno
import os
import struct
import subprocess
import sys
import threading
import time

FILE_BYTES = 64 << 30
CLONE_NEWNS, MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 0x20000, 2, 4, 0x4000, 0x40000
ROOT, DATA = 1, 2
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 25, 26, 27, 28, 29, 36, 42


def attributes(node):
    mode, size = (0o40555, 0) if node == ROOT else (0o100444, FILE_BYTES)
    return struct.pack("<6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class Server:
    def __init__(self, device, bytes_per_s):
        self.device, self.bytes_per_s = device, bytes_per_s
        self.block = os.urandom(1 << 20)

    def serve(self):
        while True:
            try:
                request = os.read(self.device, (1 << 20) + 4096)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT):
                    continue
                return  # unmounted
            _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
            if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            code, body = self.answer(opcode, node, request[40:])
            os.write(self.device, struct.pack("<IiQ", 16 + len(body), -code, unique) + body)

    def answer(self, opcode, node, body):
        if opcode == INIT:
            return 0, struct.pack("<4I2H2I2H8I", 7, 31, 128 << 10, 0, 12, 9, 1 << 17, 1, 32, 0, *[0] * 8)
        if opcode == LOOKUP:
            if body.rstrip(b"\0") != b"data":
                return errno.ENOENT, b""
            return 0, struct.pack("<4Q2I", DATA, 0, 60, 60, 0, 0) + attributes(DATA)
        if opcode == GETATTR:
            return 0, struct.pack("<Q2I", 60, 0, 0) + attributes(node)
        if opcode in (OPEN, OPENDIR):
            return 0, struct.pack("<Q2I", 0, 0, 0)
        if opcode == READ:
            size = struct.unpack_from("<QQI", body)[2]
            time.sleep(size / self.bytes_per_s)
            return 0, self.block[:size]
        if opcode == STATFS:
            return 0, struct.pack("<5Q4I", 0, 0, 0, 0, 0, 4096, 255, 4096, 0) + bytes(24)
        if opcode in (FLUSH, RELEASE, RELEASEDIR, READDIR):
            return 0, b""
        return errno.ENOSYS, b""


def check(result, what):
    if result != 0:
        print(f"cannot {what}: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
        sys.exit(77)


def main():
    folder, bytes_per_s, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    libc = ctypes.CDLL(None, use_errno=True)
    check(libc.unshare(CLONE_NEWNS), "make a mount namespace")
    check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "make mounts private")
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        print(f"cannot open /dev/fuse: {error.strerror}", file=sys.stderr)
        sys.exit(77)
    os.makedirs(folder, exist_ok=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,max_read={128 << 10}"
    check(libc.mount(b"slow", folder.encode(), b"fuse", MS_NOSUID | MS_NODEV, options.encode()), "mount a file system")
    threading.Thread(target=Server(device, bytes_per_s).serve, daemon=True).start()
    code = subprocess.call(command)
    libc.umount2(folder.encode(), 2)
    sys.exit(code)


if __name__ == "__main__":
    main()
