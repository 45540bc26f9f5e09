"""Power fails at every moment of a recording: what was on the disk opens, and what was once safe stays safe.

A real recording is traced; its writes, names and syncs are replayed onto a disk that is made up, cut after each
call. Of what was not synced such a disk keeps nothing, only the names, zeros in place of the bytes, half of the
last write, or one file whole and the others not, and the reverse: a disk writes files in any order. Every disk is read by the real reader.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import unittest

from strace_log import finished_calls
from trainscope_test import BIN, LONG, Case, main

CALLS = "openat,write,rename,unlink,mkdir,ftruncate,fsync,fdatasync"
FINISHED = re.compile(r"^(\w+)\((.*)\) += (-?\d+)")
UNREAD = re.compile(r" (?:openat\(\S+|write\(\S+), 0x")  # a text that the tracer could not read
FD = re.compile(r"^(-?\w+)<([^>]*)>")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


def decoded(text):
    return bytes.fromhex(text.replace("\\x", ""))


def path_of(text):
    return decoded(text).decode() if "\\x" in text else text


def calls_of(log):
    """(call, path of its descriptor, its texts, its arguments, what it returned) of every call that succeeded, in order."""
    for _, rest in finished_calls(log):
        done = FINISHED.match(rest)
        if done is None or int(done.group(3)) < 0:
            continue
        call, words, _ = done.groups()
        fd = FD.match(words)
        texts = [decoded(text) for text in TEXT.findall(words)]
        yield call, path_of(fd.group(2)) if fd else "", texts, words, int(done.group(3))


class File:
    def __init__(self):
        self.bytes, self.safe = b"", b""  # as programs see it, as it is on the disk


class Disk:
    """One run folder: names and bytes, as programs see them and as a power loss leaves them."""

    def __init__(self, folder):
        self.folder, self.names, self.safe_names = folder, {}, {}
        self.is_safe = False  # the folder itself has its name on the disk
        self.last_write = None

    def apply(self, call, path, texts, words, result):
        """True when the call changed something of the run."""
        self.last_write = None
        parent, _, name = path.rpartition("/")
        named = [os.path.split(t.decode(errors="replace")) for t in texts[:2]]
        inside = [n for p, n in named if p == self.folder]
        if call == "openat" and inside and ("O_CREAT" in words):
            if inside[0] not in self.names or "O_TRUNC" in words:
                self.names[inside[0]] = File()
                return True
        elif call == "write" and parent == self.folder and name in self.names and texts:
            self.last_write = self.names[name], len(self.names[name].bytes)
            self.names[name].bytes += texts[0][:result]
            return True
        elif call == "ftruncate" and parent == self.folder and name in self.names:
            self.names[name].bytes = self.names[name].bytes[:int(words.rpartition(",")[2])]
            return True
        elif call == "rename" and len(inside) == 2 and inside[0] in self.names:
            self.names[inside[1]] = self.names.pop(inside[0])
            return True
        elif call == "unlink" and inside and inside[0] in self.names:
            del self.names[inside[0]]
            return True
        elif call in ("fsync", "fdatasync"):
            return self.sync(path, parent, name)
        return False

    def sync(self, path, parent, name):
        if path == self.folder:
            self.safe_names = dict(self.names)
        elif path == os.path.dirname(self.folder):
            self.is_safe = True
        elif parent == self.folder and name in self.names:
            self.names[name].safe = self.names[name].bytes
        else:
            return False
        return True

    def after_power_loss(self):
        """{what the disk kept: {name: bytes}}"""
        kept = {"the names": {n: f.safe for n, f in self.names.items()},
                "zeros": {n: f.safe + bytes(max(0, len(f.bytes) - len(f.safe))) for n, f in self.names.items()}}
        if self.is_safe:
            kept["what was synced"] = {n: f.safe for n, f in self.safe_names.items()}
        if self.last_write:
            file, before = self.last_write
            half = (before + len(file.bytes)) // 2
            kept["half of the last write"] = {n: f.bytes[:half] if f is file else f.bytes for n, f in self.names.items()}
        for name in [n for n, f in self.names.items() if f.bytes != f.safe]:
            kept[f"{name} whole, of the others what was synced"] = self.with_bytes(lambda n: n == name)
            kept[f"all but {name} whole"] = self.with_bytes(lambda n: n != name)
        return kept

    def with_bytes(self, is_whole):
        return {n: f.bytes if is_whole(n) else f.safe for n, f in self.names.items()}


@unittest.skipUnless(shutil.which("strace"), "strace is not here")
class PowerLoss(Case):
    def traced_calls(self, seconds):
        log = self.path("calls")
        words = ["strace", "-f", "-qq", "-y", "-xx", "-s", "100000000", "-o", log, "-e", f"trace={CALLS}", "-e", "signal=none",
                 BIN, "run", "--quiet", "--every", "1ms", "--", "sleep", str(seconds)]
        done = subprocess.run(words, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=180)
        if done.returncode != 0 and b"PTRACE" in done.stderr.upper():
            self.skipTest("tracing is not permitted here: " + done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        if any(map(UNREAD.search, lines)):
            self.skipTest("what a process does that leaves no core is told to root only")
        return list(calls_of(lines))

    def read(self, files):
        """(exit code, samples, stderr) of a disk."""
        folder = self.path("after/0123456789")
        os.makedirs(folder)
        for name, data in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        done = self.trainscope("info", folder, "--json", check=False)
        shutil.rmtree(folder)
        samples = json.loads(done.stdout)["sampling"]["samples"] if done.returncode == 0 else 0
        return done.returncode, samples, done.stderr.decode()

    def test_cut_after_every_call(self):
        calls = self.traced_calls(35 if LONG else 4)
        folder = os.path.join(self.home, os.listdir(self.home)[0])
        # Rows of the moment after the job's end count only until the manifest tells of that end.
        whole = self.info(folder)["sampling"]["samples"]
        disk, known, safe = Disk(folder), {}, 0
        seen = collections.Counter()
        for at, call in enumerate(calls):
            if not disk.apply(*call):
                continue
            seen[call[0]] += 1
            for kept, files in disk.after_power_loss().items():
                state = tuple(sorted(files.items()))
                if state not in known:
                    known[state] = self.read(files)
                code, samples, errors = known[state]
                where = f"after call {at} ({call[0]} {call[1] or call[2]}), the disk kept {kept}: {errors}"
                # Before the first sync there may be nothing that tells of a run.
                self.assertIn(code, (0,) if safe else (0, 2), where)
                self.assertGreaterEqual(samples, safe, where)
                if kept == "what was synced":
                    safe = min(samples, whole)
        self.assertGreater(seen["fdatasync"], 1, seen)
        self.assertGreater(seen["fsync"], 2, seen)
        self.assertGreater(len(known), 20)
        # In the end all of it is there.
        self.assertEqual(safe, whole)
        self.assertNotIn("tail", os.listdir(folder))


if __name__ == "__main__":
    main()
