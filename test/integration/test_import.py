"""trainscope import: recordings of others become runs that every other command reads."""
import csv
import io
import json
import os
import pathlib

from trainscope_test import Case, main, metric

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
# The logs that the collect script left on a laptop; they are not part of this project.
REAL_LOGS = pathlib.Path(os.environ.get("TRAINSCOPE_COLLECT_LOGS",
                                        DATA.parent.parent.parent / "shared/data/collect-logs"))


class Import(Case):
    def imported(self, *words):
        return json.loads(self.trainscope("import", *map(str, words), "--json").stdout)

    def assert_refused(self, *words, says):
        done = self.trainscope("import", *map(str, words), check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(says, done.stderr.decode())
        self.assertEqual(done.stdout, b"")
        self.assertEqual(os.listdir(self.home), [], "something was left behind")

    def test_prints_the_id_and_what_to_type_next(self):
        done = self.trainscope("import", "--from", "collect-logs", str(DATA / "collect-logs"), "--name", "small")
        run = os.listdir(self.home)[0]
        text = done.stdout.decode()
        self.assertIn(f"run {run} small: 4 rows", text)
        self.assertIn(f"next: trainscope info {run}", text)

    def test_the_format_is_recognised(self):
        self.assertEqual(self.imported(DATA / "collect-logs")["run"]["imported_format"], "collect-logs")
        self.assertEqual(self.imported(DATA / "tegrastats/orin.log")["run"]["imported_format"], "tegrastats")

    def test_an_imported_run_is_a_run(self):
        document = self.imported("--from", "tegrastats", DATA / "tegrastats/tx2.log", "--name", "board")
        self.assertEqual(document["schema"], "trainscope.import/1")
        run = document["run"]["id"]
        listed = json.loads(self.trainscope("list", "--json").stdout)["runs"]
        self.assertEqual([(r["id"], r["name"], r["status"], r["started"]) for r in listed],
                         [(run, "board", "ended", None)])
        self.assertIn("imported from tegrastats", self.trainscope("list").stdout.decode())
        info = self.info("board")
        self.assertEqual(info["job"]["ended_by"], "unknown")
        self.assertEqual(info["run"]["imported_format"], "tegrastats")
        self.assertEqual(info["run"]["notes"], document["notes"])
        self.assertEqual(info["sampling"]["samples"], 3)
        self.assertIsNone(info["sampling"]["jitter_p99_s"])
        self.assertIsNone(info["overhead"]["cpu_s"])
        self.assertEqual(metric(info, "hw.gpu.temperature", gpu="0")["max"], 48.5)
        text = self.trainscope("info", "board").stdout.decode()
        self.assertIn("tegrastats", text)
        self.assertNotIn("jitter", text)
        self.assertEqual(self.series("hw.power", "sensor=VDD_IN", "board"), [(0, 4), (1, 6), (2, 5)])
        done = self.trainscope("sql", "board", "select max(value) from samples where metric = 'hw.gpu.utilization'")
        self.assertEqual(list(csv.reader(io.StringIO(done.stdout.decode())))[1], ["0.99"])
        self.trainscope("rm", "board", "--yes")
        self.assertEqual(os.listdir(self.home), [])

    def test_bad_input_names_the_line_and_leaves_nothing(self):
        bad = pathlib.Path(self.path("bad.log"))
        bad.write_text("RAM 1/2MB CPU [1%@2]\nRAM nonsense\n")
        self.assert_refused("--from", "tegrastats", bad, says=f"{bad}:2: RAM is followed by 'nonsense'")
        self.assert_refused(self.path("nowhere"), says="does not exist")
        self.assert_refused("--from", "collect-logs", self.folder, says="none of cpu.out")
        os.mkdir(self.path("logs"))
        pathlib.Path(self.path("logs/cpu.out")).write_text("1 0 0 0 0 0 0 0 0 99\n1 0 0 0 ? 0 0 0 0 99\n")
        self.assert_refused("--from", "collect-logs", self.path("logs"), says="cpu.out:2: '?' is not a number")
        noise = pathlib.Path(self.path("noise"))
        noise.write_bytes(os.urandom(1000))
        self.assert_refused(noise, says="cannot detect the format")
        self.assert_refused("--from", "nothing", noise, says="nothing")
        self.assert_refused("--from", "tegrastats", noise, "--every", "0s", says="--every")


class CollectScriptLogs(Case):
    """What the logs of the two published runs say, whatever the account of them says."""

    def setUp(self):
        super().setUp()
        if not (REAL_LOGS / "gpu/cpu.out").exists():
            self.skipTest(f"{REAL_LOGS} is not here (TRAINSCOPE_COLLECT_LOGS names it)")

    def summary(self, which):
        self.trainscope("import", "--from", "collect-logs", str(REAL_LOGS / which), "--name", which)
        info = self.info(which)
        return (info["sampling"]["samples"], info["sampling"]["missed"],
                metric(info, "hw.gpu.temperature", gpu="0")["max"],
                metric(info, "hw.temperature", sensor="cpu_package")["max"],
                round(metric(info, "system.cpu.utilization", cpu="all")["mean"], 3))

    def test_gpu_run(self):
        self.assertEqual(self.summary("gpu"), (4427, 0, 84, 97, 0.144))
        text = self.trainscope("info", "gpu").stdout.decode()
        self.assertIn("84.0 °C", text)
        self.assertIn("97.0 °C", text)
        notes = self.info("gpu")["run"]["notes"]
        self.assertTrue(any("1.02 s apart" in note for note in notes), notes)
        self.assertTrue(any("two characters" in note for note in notes), notes)

    def test_cpu_run(self):
        self.assertEqual(self.summary("cpu"), (4403, 0, 63, 96, 0.756))

    def test_every_number_of_the_log_is_in_the_run(self):
        self.summary("gpu")
        memory = [line.split() for line in (REAL_LOGS / "gpu/memory.out").read_text().splitlines() if line.strip()]
        self.assertEqual([value / 1048576 for _, value in self.series("system.memory.usage", "state=used", "gpu")],
                         [float(row[2]) for row in memory])
        cpu = [line.split() for line in (REAL_LOGS / "gpu/cpu.out").read_text().splitlines() if line.strip()]
        states = self.series("system.cpu.state.utilization", "cpu=all;state=user", "gpu")
        for (_, value), row in zip(states, cpu, strict=True):
            self.assertAlmostEqual(value * 100, float(row[0]), places=6)


if __name__ == "__main__":
    main()
