"""Runs of other versions, ruined manifests, and two recorders at once."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

from trainscope_test import BIN, Case, main, python

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import second_reader  # noqa: E402

STEPS = """
import os, time
pipe = open(os.environ["TRAINSCOPE_PIPE"], "w")
for i in range(1, %d):
    print("step", i, file=pipe, flush=True); time.sleep(0.02)
"""


def frame(kind, payload):
    head = struct.pack("<BBI", kind, 0, len(payload))
    return b"Ts" + head + struct.pack("<I", second_reader.crc32c(head + payload)) + payload


class OtherVersions(Case):
    def recorded(self):
        self.record(["sleep", "0.5"], "--every", "10ms", "--name", "old")
        self.wait_for_settled_runs()
        return pathlib.Path(self.info("old")["run"]["path"])

    def assert_refused(self, folder, *says):
        before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
        done = self.trainscope("info", str(folder), check=False)
        self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
        for text in says:
            self.assertIn(text, done.stderr.decode())
        listed = json.loads(self.trainscope("list", "--json").stdout)["runs"]
        self.assertEqual([r["status"] for r in listed], ["damaged"])
        self.assertIn("newer trainscope", listed[0]["problem"])
        self.assertEqual({p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}, before)

    def test_what_a_later_version_adds_is_skipped(self):
        folder = self.recorded()
        before = self.info("old")
        segment = folder / "samples-0001.seg"
        data = segment.read_bytes()
        extra = frame(200, os.urandom(100)) + frame(5, json.dumps({"time_ns": 1, "kind": "new", "text": "x", "more": [1]}).encode())
        segment.write_bytes(data[:16] + extra + data[16:] + frame(77, b""))
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["colour"] = {"deep": [1, 2]}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        after = self.info("old")
        self.assertEqual(after["sampling"], before["sampling"])
        self.assertEqual([m["last"] for m in after["metrics"]], [m["last"] for m in before["metrics"]])

    def test_a_newer_format_is_refused(self):
        folder = self.recorded()
        segment = folder / "samples-0001.seg"
        data = segment.read_bytes()
        segment.write_bytes(data[:8] + struct.pack("<I", 2) + data[12:])
        self.assert_refused(folder, "samples-0001.seg", "version 2", "newer trainscope")
        segment.write_bytes(data)
        manifest = folder / "manifest.json"
        manifest.write_text(manifest.read_text().replace("trainscope.manifest/1", "trainscope.manifest/2"))
        self.assert_refused(folder, "manifest.json", "trainscope.manifest/2", "newer trainscope")


class RuinedManifest(Case):
    def test_a_run_is_read_without_its_manifest(self):
        self.record(["sleep", "0.5"], "--every", "10ms", "--name", "resnet")
        self.wait_for_settled_runs()
        whole = self.info("resnet")
        folder = pathlib.Path(whole["run"]["path"])
        # A copy that is named otherwise and has no time of its own: only the bytes can tell.
        copy = pathlib.Path(self.path("elsewhere/copy"))
        shutil.copytree(folder, copy)
        for damage in (b"", b"\0" * 1500, b'{"schema": "trainsc', os.urandom(1500), None):
            for place in (folder, copy):
                manifest = place / "manifest.json"
                manifest.unlink(missing_ok=True)
                if damage is not None:
                    manifest.write_bytes(damage)
                info = self.info(str(place))
                self.assertEqual(info["run"]["id"], whole["run"]["id"])
                self.assertEqual(info["run"]["name"], "resnet")
                self.assertEqual(info["run"]["started"], whole["run"]["started"])
                self.assertEqual(info["job"]["command"], ["sleep", "0.5"])
                self.assertEqual((info["job"]["ended_by"], info["job"]["exit_code"]), ("unknown", None))
                self.assertEqual(info["host"], whole["host"])
                self.assertEqual(info["sampling"]["period_s"], 0.01)
                self.assertGreaterEqual(info["sampling"]["samples"], whole["sampling"]["samples"])
                self.assertTrue(any("manifest.json" in note for note in info["run"]["notes"]), info["run"]["notes"])
                if damage is not None:
                    self.assertEqual(manifest.read_bytes(), damage, "a reader changed the run")
            listed = json.loads(self.trainscope("list", "--json").stdout)["runs"][0]
            self.assertEqual((listed["name"], listed["command"], listed["status"]), ("resnet", ["sleep", "0.5"], "damaged"))
            self.assertGreater(listed["duration_s"], 0.4)
            self.assertIn("manifest.json", listed["problem"])
            self.assertIn("sleep 0.5", self.trainscope("list").stdout.decode())

    def test_nothing_at_all_is_named(self):
        folder = pathlib.Path(self.home) / "0123456789"
        folder.mkdir()
        (folder / "manifest.json").write_bytes(b"")
        done = self.trainscope("info", "0123456789", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("manifest.json", done.stderr.decode())


class TwoRecorders(Case):
    def test_two_runs_of_one_name_at_once_keep_apart(self):
        words = [BIN, "run", "--quiet", "--every", "10ms", "--name", "same", "--"]
        jobs = [subprocess.Popen(words + python(STEPS % n), env=self.environment(), stdin=subprocess.DEVNULL) for n in (41, 61)]
        self.assertEqual([job.wait(timeout=120) for job in jobs], [0, 0])
        runs = [self.info(name) for name in sorted(os.listdir(self.home))]
        self.assertEqual(sorted(run["steps"]["count"] for run in runs), [40, 60])
        self.assertEqual(len({run["run"]["id"] for run in runs}), 2)
        for run in runs:
            self.assert_ticks_add_up(run["run"]["id"])


if __name__ == "__main__":
    main()
