"""Files that were made to fill memory: refused with their name, within little memory; honest ones of any size are read."""
import json
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys
import unittest

from trainscope_test import LONG, Case, main

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import second_reader  # noqa: E402

HEADER = b"TRAINSCP" + struct.pack("<II", 1, 0)
SCHEMA = {"schema": 1, "stream": 0, "period_ns": 100000000, "source": "s", "missing": [],
          "columns": [{"metric": "a", "labels": {}, "unit": "1", "kind": "gauge", "scale": [1, 1], "type": "i64"}]}
MANIFEST = {"schema": "trainscope.manifest/1", "id": "0123456789", "period_ns": 100000000, "ended": "2026-01-01T00:00:00Z",
            "duration_s": 1.0, "ended_by": "exit", "exit_code": 0}
MB = 1 << 20


def frame(kind, payload, flags=0):
    head = struct.pack("<BBI", kind, flags, len(payload))
    return b"Ts" + head + struct.pack("<I", second_reader.crc32c(head + payload)) + payload


class Hostile(Case):
    def limited(self, megabytes, *words):
        """The program with so much memory to be had."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * MB, megabytes * MB))
        return self.trainscope(*map(str, words), check=False, preexec_fn=limit)

    def assert_refused(self, done, *says):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, b"")
        for text in says:
            self.assertIn(text, done.stderr.decode())
        self.assertNotIn("bad_alloc", done.stderr.decode())
        self.assertNotIn("internal error", done.stderr.decode())

    def run_of(self, *frames):
        folder = pathlib.Path(self.home) / "0123456789"
        folder.mkdir()
        (folder / "manifest.json").write_text(json.dumps(MANIFEST))
        schema = frame(second_reader.SCHEMA, json.dumps(SCHEMA).encode())
        (folder / "samples-0001.seg").write_bytes(HEADER + schema + b"".join(frames))
        return folder

    def compressed(self, text):
        plain = pathlib.Path(self.path("plain"))
        plain.write_bytes(text)
        return subprocess.run(["zstd", "-q", "-19", "-c", str(plain)], stdout=subprocess.PIPE, check=True).stdout

    @unittest.skipUnless(shutil.which("zstd"), "the program zstd is not installed")
    def test_a_small_file_that_claims_millions_of_messages(self):
        noise = random.Random(1).randbytes(10_000)  # or it would be damage: no frame may compress that well
        bomb = frame(second_reader.STEP, self.compressed(b"0\n" + noise + b"\n" + b"1 pipe step 1\n" * 500_000), second_reader.ZSTD)
        folder = self.run_of(bomb)
        self.assertLess((folder / "samples-0001.seg").stat().st_size, 20_000)
        self.assert_refused(self.limited(256, "info", folder), "samples-0001.seg", "offset")
        # Many small ones together are no better than a large one.
        small = [frame(second_reader.STEP, self.compressed(b"%d\n" % (i * 3000) + b"1 pipe step 1\n" * 3000), second_reader.ZSTD)
                 for i in range(20)]
        shutil.rmtree(folder)
        self.assert_refused(self.limited(256, "info", self.run_of(*small * 100)), "samples-0001.seg", "offset")

    def test_honest_messages_that_are_all_alike_are_kept(self):
        # Through the pipe, which waits for the recorder: of what is printed a busy machine may drop some.
        self.record("import os\nwith open(os.environ['TRAINSCOPE_PIPE'], 'w') as pipe:\n"
                    "    for i in range(64 * 300): pipe.write(f'step {i // 64} loss=0.5\\n')")
        self.assertEqual(self.info()["steps"]["count"], 300)

    def test_a_damaged_run_that_does_not_fit_into_memory(self):
        folder = self.run_of()
        os.truncate(folder / "samples-0001.seg", 400 * MB)
        done = self.limited(128, "info", folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("bytes skipped", json.loads(done.stdout)["sampling"]["gaps"][0]["reason"])

    @unittest.skipUnless(shutil.which("zstd"), "the program zstd is not installed")
    def test_small_frames_that_decompress_to_much(self):
        """They would all be open together, because their times overlap."""
        frames = [frame(second_reader.STEP, self.compressed(b"%d\n%d pipe step 1\n9000000 pipe step 1 " % (2 * i, i) + b"x" * 16 * MB),
                        second_reader.ZSTD) for i in range(20)]
        folder = self.run_of(*frames)
        self.assertLess((folder / "samples-0001.seg").stat().st_size, 100_000)
        done = self.limited(256, "info", folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("offset", json.loads(done.stdout)["sampling"]["gaps"][0]["reason"])

    def test_rows_of_a_query_do_not_stay_in_memory(self):
        self.record(["true"], "--name", "good")
        count = 1_000_000
        query = f"with recursive c(n) as (select 1 union all select n + 1 from c limit {count}) select n, 'text' from c"
        done = self.limited(150, "sql", "good", query, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["rows"][-1], [count, "text"])

    def test_a_large_run_with_a_ruined_manifest_stops_no_other(self):
        self.record(["true"], "--name", "good")
        folder = self.run_of()
        for manifest in (b"", json.dumps({**MANIFEST, "duration_s": None}).encode()):
            (folder / "manifest.json").write_bytes(manifest)
            os.utime(folder / "manifest.json", (1, 1))  # nobody records it
            os.truncate(folder / "samples-0001.seg", 600 * MB)
            for words in (("list",), ("list", "--json"), ("info", "good")):
                done = self.limited(400, *words)
                self.assertEqual((done.returncode, done.stderr), (0, b""), (manifest, words))
                self.assertIn(b"good", done.stdout)
        (folder / "manifest.json").write_bytes(b"")
        os.utime(folder / "manifest.json", (1, 1))
        listed = {run["name"]: run["status"] for run in json.loads(self.limited(400, "list", "--json").stdout)["runs"]}
        self.assertEqual(listed, {"good": "ended", None: "damaged"})
        done = self.limited(400, "rm", "--yes", "good")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_stands_at_the_end_of_a_large_run_is_listed(self):
        folder = self.run_of()
        segment = folder / "samples-0001.seg"
        (folder / "manifest.json").write_bytes(b"")
        os.truncate(segment, 600 * MB)
        with segment.open("ab") as file:
            file.write(frame(second_reader.MANIFEST, json.dumps({**MANIFEST, "name": "board"}).encode()))
        listed = json.loads(self.limited(400, "list", "--json").stdout)["runs"]
        self.assertEqual([(run["name"], run["status"]) for run in listed], [("board", "damaged")])

    def test_a_log_of_many_fields_takes_little_memory(self):
        log = pathlib.Path(self.path("board.log"))
        wide = "RAM 1/2MB CPU [1%@2] " + " ".join(f"e{i} 1" for i in range(1000))
        log.write_text(wide + "\n" + "RAM 1/2MB CPU [1%@2]\n" * 30_000)
        done = self.limited(200, "import", "--from", "tegrastats", log, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["samples"], 30_001)
        wider = "RAM 1/2MB CPU [1%@2] " + " ".join(f"e{i} 1" for i in range(5000))
        log.write_text("RAM 1/2MB CPU [1%@2]\n" * 30_000 + wider)
        self.assert_refused(self.limited(200, "import", "--from", "tegrastats", log), f"{log}:30001:", "different fields")

    def test_long_logs_take_little_memory(self):
        """Rows do not stay in memory: five times as many take as much."""
        folder = pathlib.Path(self.path("logs"))
        folder.mkdir()
        line = b"12.25 0.00 3.50 0.25 0.00 0.00 0.00 0.00 0.00 84.00\n"
        rows = (100 if LONG else 20) * 1_000_000 // len(line)
        (folder / "cpu.out").write_bytes(line * rows)
        done = self.limited(100 if not LONG else 200, "import", "--from", "collect-logs", folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["samples"], rows)


if __name__ == "__main__":
    main()
