"""Counters from files: a file that changes a hundred times per second is followed, and what is not a number is absent."""
import json
import os
import struct
import subprocess
import sys

from trainscope_test import Case, main, metric, python, wait_until

# A Lustre-like stats file that a program writes anew every 10 ms, by rename, for as many times as it is told. Each
# version holds its number. Prints by when each was there.
WRITER = """
import json, os, sys, time
path, versions = sys.argv[1], int(sys.argv[2])
put_ns = [0]
zero = time.monotonic()
for k in range(1, versions + 1):
    text = f"read_bytes {k} samples [bytes] 1 4194304 {k * 1000}\\n"
    with open(path + ".new", "w") as file: file.write(text)
    os.rename(path + ".new", path)
    put_ns.append(time.monotonic_ns())
    time.sleep(max(0, zero + k * 0.01 - time.monotonic()))
print(json.dumps(put_ns))
"""


class Counters(Case):
    def write(self, name, text):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def test_a_hundred_versions_a_second_are_followed(self):
        path = self.write("stats", "read_bytes 0 samples [bytes] 1 1 0\n")
        versions = 400
        done = self.record(python(WRITER, path, versions), "--every", "10ms",
                           "--counter", f"versions:uint@{path}+key=read_bytes;c=1",
                           "--counter", f"bytes:uint@{path}+key=read_bytes;c=6;unit=By;rate")
        info = self.assert_ticks_add_up()
        seen = self.series("counter.versions")
        zero = self.zero_ns()
        put_s = [(put - zero) / 1e9 for put in json.loads(done.stdout)]
        values = [value for _, value in seen]
        # A rename leaves no moment without the file: there is a value at every tick that was taken.
        self.assertEqual(len(seen), info["sampling"]["samples"])
        self.assertEqual(values, sorted(values), "an old version came back")
        self.assertEqual(values[0], 0)
        self.assertGreater(values[-1], versions / 2)
        # No drift: at each tick the version is the newest that was there when the tick began.
        old = [(tick_s, version) for tick_s, version in seen if version < versions and put_s[int(version) + 1] < tick_s]
        self.assertEqual(old, [], "readings are behind the file")
        counter = metric(info, "counter.bytes")
        self.assertEqual((counter["kind"], counter["unit"]), ("counter", "By"))
        self.assertEqual(counter["delta"], counter["last"])
        rate = metric(info, "counter.bytes.rate")
        self.assertEqual((rate["derived"], rate["unit"]), (True, "By/s"))
        self.assertGreater(rate["mean"], 0)

    def zero_ns(self):
        with open(os.path.join(self.info()["run"]["path"], "manifest.json")) as file:
            return json.load(file)["zero_monotonic_ns"]

    def test_types_and_places(self):
        text = self.write("text", "a 0x10 017 -4 2.5\nb\t1 9\n")
        binary = self.write("binary", struct.pack("<bhid", -1, -2, 70000, 0.5))
        expected = {"hex": 16, "octal": 15, "minus": -4, "real": 2.5, "tab": 9, "b0": -1, "b12": 0.5}
        places = {"hex": f"int@{text}+c=1", "octal": f"int@{text}+c=2", "minus": f"int@{text}+c=3;p",
                  "real": f"double@{text}+c=4", "tab": f"int@{text}+r=1;c=1;a",
                  "b0": f"int8_bin@{binary}+b=0", "b12": f"double_bin@{binary}+b={len(open(binary, 'rb').read()) - 8}"}
        options = [word for name, place in places.items() for word in ("--counter", f"{name}:{place}")]
        self.record(["sleep", "0.3"], *options)
        info = self.info()
        for name, value in expected.items():
            self.assertEqual(metric(info, f"counter.{name}")["last"], value, name)

    def test_one_that_is_missing_has_its_reason_and_blocks_no_other(self):
        path = self.write("text", "a 1\nb 2\n")
        self.record(["sleep", "0.3"], "--counter", f"lost:int@{path}+key=c", "--counter", f"far:int@{path}+r=99",
                    "--counter", "nowhere:int@/no/such/file+", "--counter", f"x:int@{path}+c=1;r=1")
        info = self.info()
        self.assertEqual(metric(info, "counter.x")["last"], 2)
        for name, reason in (("lost", "no row begins with 'c'"), ("far", "row 99 does not exist"),
                             ("nowhere", "/no/such/file does not exist")):
            found = metric(info, f"counter.{name}")
            self.assertEqual(found["status"], "absent")
            self.assertIn(reason, found["reason"])

    def test_a_counter_that_appears_while_the_job_runs(self):
        path = self.path("later")
        job = self.start(["cat"], "--counter", f"later:int@{path}+", stdin=subprocess.PIPE)
        wait_until(lambda: self.on_disk("counter.later").get("status") == "absent")
        self.write("later", "7\n")
        self.wait_for_samples(1, "counter.later")
        job.stdin.close()
        self.assertEqual(job.wait(), 0)
        self.assertEqual(metric(self.info(), "counter.later")["last"], 7)

    def test_what_scorep_was_told_is_understood(self):
        path = self.write("text", "a 1 5\n")
        variables = {"SCOREP_METRIC_FILEPARSER_PLUGIN": f"first one:int@{path}+c=1;r=0;s= ;d,second:uint@{path}+c=2",
                     "SCOREP_METRIC_FILEPARSER_PLUGIN_PERIOD": "20000"}
        self.record(["sleep", "0.3"], env=self.environment(**variables))
        info = self.info()
        self.assertEqual(metric(info, "counter.first one")["last"], 0)  # d
        self.assertEqual(metric(info, "counter.second")["last"], 5)
        self.assertEqual(info["sampling"]["period_s"], 0.02)
        self.record(["sleep", "0.3"], "--counter", f"own:int@{path}+c=1", "--every", "50ms",
                    env=self.environment(**variables))
        info = self.info()
        self.assertEqual([m["name"] for m in info["metrics"] if m["name"].startswith("counter.")], ["counter.own"])
        self.assertEqual(info["sampling"]["period_s"], 0.05)

    def test_nonsense_is_a_usage_error_and_nothing_starts(self):
        mark = self.path("mark")
        for words, environment in ((["--counter", "x:flot@/y+"], {}), (["--counter", "x:/y+r=-1"], {}),
                                   (["--counter", "x:/y+match=("], {}), (["--counter", ""], {}),
                                   (["--counter", "a:/x+", "--counter", "a:/y+"], {}),
                                   ([], {"SCOREP_METRIC_FILEPARSER_PLUGIN": "x:/y+r=-1"}),
                                   ([], {"SCOREP_METRIC_FILEPARSER_PLUGIN": "x:/y+",
                                         "SCOREP_METRIC_FILEPARSER_PLUGIN_PERIOD": "soon"}),
                                   ([], {"TRAINSCOPE_COUNTER": "x:flot@/y+"})):
            done = self.trainscope("run", *words, "--", "touch", mark, check=False, env=self.environment(**environment))
            self.assertEqual(done.returncode, 2, f"{words} {environment} {done.stderr}")
            origin = words[0] if words else sorted(environment)[-1]
            self.assertIn(origin, done.stderr.decode())
            self.assertFalse(os.path.exists(mark))
        self.assertIn("character 8", self.trainscope("run", "--counter", "x:/y+r=-1", "--", "true", check=False).stderr.decode())

    def test_what_part_of_the_data_is_in_memory(self):
        folder = self.path("data")
        os.mkdir(folder)
        for k in range(20):
            with open(os.path.join(folder, str(k)), "wb") as file:
                file.write(b"x" * 50000)
        self.record(["sleep", "1"], "--data", folder)
        cached = [m for m in self.info()["metrics"] if m["name"] == "system.page_cache.cached"][0]
        if cached["status"] == "absent":
            self.skipTest(cached["reason"])
        self.assertEqual(cached["last"], 20 * 50000)
        kind = subprocess.run(["stat", "-f", "-c", "%T", folder], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        if kind in ("tmpfs", "ramfs"):
            self.skipTest(f"{folder} is in memory: nothing of it can leave the page cache")
        subprocess.run([sys.executable, "-c", f"""
import os
for name in os.listdir({folder!r}):
    fd = os.open(os.path.join({folder!r}, name), os.O_RDONLY)
    os.fsync(fd); os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
"""], check=True)
        self.record(["sleep", "1"], "--data", folder)
        cold = [m for m in self.info()["metrics"] if m["name"] == "system.page_cache.cached"][0]
        self.assertLess(cold["last"], 20 * 50000 / 2)


if __name__ == "__main__":
    main()
