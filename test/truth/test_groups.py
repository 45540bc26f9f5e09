"""Ranks of one job and repeats of one command: what is known of each run is what their group shows."""
import csv
import io
import json
import pathlib
import statistics
import subprocess

from trainscope_test import Case, main, python

STEPS = 9
# Reports steps of a known length, with their own timestamps: nothing depends on how busy the machine is.
JOB = """
import os, sys, time
step_ns, steps = int(sys.argv[1]), int(sys.argv[2])
begin = time.monotonic_ns()
while time.monotonic_ns() < begin + (steps + 1) * step_ns:
    time.sleep(0.001)
with open(os.environ["TRAINSCOPE_PIPE"], "w") as pipe:
    for i in range(1, steps + 1):
        pipe.write(f"step {i} t={begin + i * step_ns}\\n")
sys.exit(int(sys.argv[3]))
"""
LAUNCHERS = ("SLURM_", "TORCHELASTIC_", "OMPI_", "PMI", "MV2_", "MPI_", "MASTER_")
NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK")


def job(step_ms=10, steps=STEPS, code=0):
    return python(JOB, step_ms * 1_000_000, steps, code)


def slurm(rank, size, job_id="4711", step="0", **more):
    return {"SLURM_JOB_ID": job_id, "SLURM_STEP_ID": step, "SLURM_PROCID": str(rank), "SLURM_NTASKS": str(size),
            "SLURM_LOCALID": str(rank), **more}


class GroupCase(Case):
    def environment(self, **more):
        kept = {k: v for k, v in super().environment().items() if not k.startswith(LAUNCHERS) and k not in NAMES}
        return {**kept, **more}

    def record_ranks(self, variables, jobs, *options):
        """Runs all ranks at once; returns their exit codes."""
        ranks = [subprocess.Popen(self.run_words(job, *options), env=self.environment(**values),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                 for values, job in zip(variables, jobs)]
        return [rank.wait(timeout=120) for rank in ranks]

    def listed(self, *words):
        return json.loads(self.trainscope("list", "--json", *words).stdout)["runs"]

    def list_lines(self, *words):
        """The lines of `list` without the heading."""
        return self.trainscope("list", *words).stdout.decode().splitlines()[1:]

    def query(self, run, text):
        table = self.trainscope("sql", run, text).stdout.decode()
        return list(csv.reader(io.StringIO(table)))[1:]

    def shown(self, run):
        return self.trainscope("info", run).stdout.decode()


def measure(document, name):
    return next(m for m in document["measures"] if m["name"] == name)


class Ranks(GroupCase):
    def test_the_slow_rank_of_two_and_of_four_is_named(self):
        for size, slow, job_id in ((2, 1, "2000"), (4, 2, "4000")):
            with self.subTest(ranks=size):
                jobs = [job(40 if rank == slow else 20) for rank in range(size)]
                self.assertEqual(self.record_ranks([slurm(r, size, job_id) for r in range(size)], jobs), [0] * size)
                group = self.info(f"slurm-{job_id}.0")
                self.assertEqual(group["schema"], "trainscope.group/1")
                self.assertEqual(group["group"], {"id": f"slurm-{job_id}.0", "kind": "ranks", "size": size})
                self.assertEqual([run["group"]["rank"] for run in group["runs"]], list(range(size)))
                slowest = group["runs"][slow]
                self.assertEqual((group["slowest"]["rank"], group["slowest"]["run"], group["slowest"]["by"]),
                                 (slow, slowest["id"], "step_p50_s"))
                steps = measure(group, "step_p50_s")
                for key, expected in (("min", 0.02), ("median", 0.03 if size == 2 else 0.02), ("max", 0.04)):
                    self.assertAlmostEqual(steps[key], expected, places=6)
                self.assertEqual((steps["runs"], steps["max_run"]), (size, slowest["id"]))
                count = measure(group, "steps")
                self.assertEqual((count["min"], count["median"], count["max"]), (STEPS, STEPS, STEPS))
                durations = [self.info(run["id"])["run"]["duration_s"] for run in group["runs"]]
                self.assertEqual(measure(group, "duration_s")["max"], max(durations))
                text = self.shown(f"slurm-{job_id}")
                self.assertIn(f"{size} ranks", text.splitlines()[0])
                self.assertRegex(text, rf"slowest +rank {slow} \(run {slowest['id']}\): step time p50 40(\.0)? ms")

    def test_a_group_is_one_row_that_can_be_opened(self):
        self.record(["true"])
        self.record_ranks([slurm(r, 3) for r in range(3)], [job(code=r // 2 * 5) for r in range(3)], "--name", "x")
        rows = self.list_lines()
        self.assertEqual(len(rows), 2)
        self.assertRegex(rows[1], r"^slurm-4711\.0 +x +3 ranks .* 5 ")  # the worst exit code
        opened = self.list_lines("--open")
        self.assertEqual(len(opened), 4)
        for rank in range(3):
            self.assertEqual(sum(f"rank {rank} of 3" in row for row in opened), 1)
        runs = self.listed()
        self.assertEqual(len(runs), 4)
        self.assertEqual([run["group"] and run["group"]["job"] for run in runs], [None] + ["slurm-4711.0"] * 3)
        # Filters choose runs; what is left of a group says so.
        self.assertEqual(len(self.list_lines("-n", "1")), 1)
        self.assertRegex(self.list_lines("--status", "failed")[0], r"^[0-9a-z]{10} .*rank 2 of 3")
        self.trainscope("rm", "--yes", runs[1]["id"])
        self.assertIn("2 of 3 ranks", self.list_lines()[1])

    def test_a_rank_without_machine_metrics_names_the_run_that_has_them(self):
        self.record_ranks([slurm(r, 2) for r in range(2)], [job(), job()])
        runs = {run["rank"]: run["id"] for run in self.listed()}
        for rank in (0, 1):
            info = self.info(runs[rank])
            has_machine = any(m["name"] == "system.cpu.time" for m in info["metrics"])
            self.assertEqual((has_machine, info["run"]["machine_metrics_run"]), (rank == 0, runs[0]))
        self.assertIn(f"its metrics are in run {runs[0]} (rank 0)", self.shown(runs[1]))
        self.assertNotIn("its metrics are in", self.shown(runs[0]))
        self.assertIn(f"are in run {runs[0]} (rank 0)", self.shown("slurm-4711.0"))
        self.assertEqual([run["machine_metrics_run"] for run in self.info("slurm-4711.0")["runs"]], [runs[0]] * 2)
        self.trainscope("rm", "--yes", runs[0])
        self.assertIsNone(self.info(runs[1])["run"]["machine_metrics_run"])
        self.assertIn("not found here", self.shown(runs[1]))

    def test_sql_reads_all_runs_of_a_group(self):
        self.record_ranks([slurm(r, 3) for r in range(3)], [job(steps=5 + r) for r in range(3)])
        runs = {run["rank"]: run["id"] for run in self.listed()}
        group = "slurm-4711.0"
        self.assertEqual(self.query(group, "select run, rank, count(*) from steps group by 1, 2 order by 2"),
                         [[runs[r], str(r), str(5 + r)] for r in range(3)])
        self.assertEqual(self.query(group, "select run, rank, exit_code from runs order by rank"),
                         [[runs[r], str(r), "0"] for r in range(3)])
        # Each constraint narrows what is read and must give what reading everything gives.
        total = 0
        for rank in range(3):
            alone = int(self.query(runs[rank], "select count(*) from samples")[0][0])
            total += alone
            for where in (f"rank = {rank}", f"rank = '{rank}'", f"run = '{runs[rank]}'", f"rank + 0 = {rank}"):
                self.assertEqual(self.query(group, f"select count(*) from samples where {where}"), [[str(alone)]], where)
        self.assertEqual(self.query(group, "select count(*) from samples"), [[str(total)]])
        self.assertEqual(self.query(group, "select count(*) from samples where rank = 9"), [["0"]])
        only_rank_0 = self.query(group, "select distinct rank from samples where metric = 'system.memory.usage'")
        self.assertEqual(only_rank_0, [["0"]])
        # Texts of a run that was closed in the meantime.
        names = self.query(group, "select run, max(metric), min(labels) from samples group by run order by 1")
        for run, last, first in names:
            self.assertEqual(self.query(run, "select max(metric), min(labels) from samples"), [[last, first]])
        joined = self.query(group, "select count(*) from steps a join runs b on a.run = b.run and a.rank = b.rank")
        self.assertEqual(joined, [[str(5 + 6 + 7)]])
        document = json.loads(self.trainscope("sql", group, "select rank from runs order by 1", "--json").stdout)
        self.assertEqual(document["rows"], [[0], [1], [2]])
        self.assertEqual(self.trainscope("sql", runs[0], "select * from runs", check=False).returncode, 2)

    def test_a_group_is_not_one_run(self):
        self.record_ranks([slurm(r, 2) for r in range(2)], [job(), job()])
        done = self.trainscope("export", "slurm-4711.0", "--to", "csv", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is a group of 2 runs", done.stderr)
        self.assertEqual(self.trainscope("info", "slurm-4711.0", "--events", check=False).returncode, 2)
        self.assertEqual(self.trainscope("info", "slurm-4711.0~1", check=False).returncode, 2)
        self.trainscope("rm", "--yes", "slurm-47")
        self.assertEqual(self.listed(), [])

    def test_a_damaged_run_stops_nothing(self):
        self.record_ranks([slurm(r, 2) for r in range(2)], [job(), job()])
        run = next(run for run in self.listed() if run["rank"] == 1)
        for segment in pathlib.Path(run["path"]).glob("samples-*.seg"):
            segment.write_bytes(b"x" * 4096)
        group = self.info("slurm-4711.0")
        self.assertEqual([r["status"] for r in group["runs"]], ["ended", "damaged"])
        self.assertIsNone(group["runs"][1]["steps"])
        self.assertEqual(measure(group, "steps")["runs"], 1)
        self.assertRegex(self.list_lines()[0], r"2 ranks .* damaged ")
        self.shown("slurm-4711.0")


class Launchers(GroupCase):
    def torchrun(self, rank, **more):
        return {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "MASTER_ADDR": "localhost",
                "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "0", **more}

    def test_torchrun_with_and_without_an_id(self):
        self.record_ranks([self.torchrun(r, TORCHELASTIC_RUN_ID="x81") for r in (0, 1)], [["true"]] * 2)
        self.record_ranks([self.torchrun(r, TORCHELASTIC_ERROR_FILE=f"/tmp/a/none_1/attempt_0/{r}/error.json")
                           for r in (0, 1)], [["true"]] * 2)
        # Started twice by this process: the second run of each rank is another group.
        for _ in range(2):
            self.record_ranks([self.torchrun(r) for r in (0, 1)], [["true"]] * 2)
        jobs = [run["group"]["job"] for run in self.listed()]
        self.assertEqual(jobs[:2], ["torchrun-x81"] * 2)
        self.assertEqual(len(set(jobs)), 3)
        self.assertRegex(jobs[2], r"^torchrun-[0-9a-f]{8}$")
        self.assertRegex(jobs[4], r"^ranks-[0-9a-f]{8}$")
        rows = self.list_lines()
        self.assertEqual(len(rows), 4, rows)
        self.assertTrue(all(" 2 ranks " in row for row in rows))
        self.assertTrue(rows[2].startswith(f"{jobs[4]}~1 "), rows[2])
        ids = [run["id"] for run in self.listed()]
        self.assertEqual(sorted(run["id"] for run in self.info(f"{jobs[4]}~1")["runs"]), sorted(ids[4:6]))
        self.assertEqual(sorted(run["id"] for run in self.info(jobs[4])["runs"]), sorted(ids[6:8]))

    def test_a_restart_is_another_group(self):
        for count in "01":
            self.record_ranks([self.torchrun(r, TORCHELASTIC_RUN_ID="x", TORCHELASTIC_RESTART_COUNT=count)
                               for r in (0, 1)], [["true"]] * 2)
        self.assertEqual([row.split()[0] for row in self.list_lines()], ["torchrun-x~1", "torchrun-x"])
        self.assertEqual([run["group"]["restart"] for run in self.listed()], [0, 0, 1, 1])

    def test_hostile_values_do_no_harm(self):
        values = ["a\nb", "\x1b[31mred", "x" * 100_000, "../../etc", "*", "~1", " ", "-n", "latest", "é" * 50]
        for number, value in enumerate(values):
            name = ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID")[number % 2]
            base = self.torchrun if number % 2 == 0 else lambda r: slurm(r, 2)
            with self.subTest(value=value[:20]):
                before = len(self.listed())
                codes = self.record_ranks([{**base(r), name: value} for r in (0, 1)], [["true"]] * 2)
                self.assertEqual(codes, [0, 0])
                new = self.listed()[before:]
                group = new[0]["group"]["job"]
                self.assertEqual([run["group"]["job"] for run in new], [group] * 2)
                self.assertRegex(group, r"\A(torchrun|slurm)-[-_.:@+=A-Za-z0-9]{1,34}\Z")
                self.assertLessEqual(len(group), 40)
                self.assertEqual(len(self.info(group)["runs"]), 2)
        self.assertEqual(len(self.list_lines()), len(values))
        self.assertNotIn(b"\x1b", self.trainscope("list").stdout)
        # What a foreign manifest claims reaches a terminal as text.
        manifest = pathlib.Path(self.listed()[0]["path"], "manifest.json")
        fields = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**fields, "job": "\x1b[31m" + "y" * 1_000_000, "restart": -5,
                                        "repeat": {"group": "\n\x1b]0;x\x07", "index": 10**30, "count": "x"}}))
        for words in (["list"], ["list", "--open"], ["info", fields["id"]]):
            self.assertNotIn(b"\x1b", self.trainscope(*words).stdout)

    def test_a_run_of_an_earlier_version_has_no_group(self):
        self.record_ranks([slurm(r, 2) for r in (0, 1)], [["true"]] * 2)
        for run in self.listed():
            manifest = pathlib.Path(run["path"], "manifest.json")
            fields = json.loads(manifest.read_text())
            for name in ("job", "restart", "records_machine", "repeat"):
                del fields[name]
            manifest.write_text(json.dumps(fields))
        self.assertEqual([run["group"]["job"] for run in self.listed()], [None, None])
        self.assertEqual(len(self.list_lines()), 2)
        self.assertIn("local rank 0", self.shown(next(r["id"] for r in self.listed() if r["rank"] == 1)))


class Repeats(GroupCase):
    def training_speed(self, run):
        """Steps per second from the first step to the last."""
        (steps, seconds), = self.query(run, "select max(step) - min(step), max(time_s) - min(time_s) from steps")
        return float(steps) / float(seconds)

    def test_mean_and_spread_of_three(self):
        self.record(job(), "--repeat", "3", "--name", "y")
        runs = self.listed()
        group = runs[0]["repeat"]["group"]
        self.assertEqual(group, "repeat-" + runs[0]["id"])
        self.assertEqual([run["repeat"] for run in runs],
                         [{"group": group, "index": i, "count": 3} for i in (1, 2, 3)])
        self.assertEqual([run["group"] for run in runs], [None] * 3)
        document = self.info(group)
        self.assertEqual(document["group"], {"id": group, "kind": "repeats", "size": 3})
        self.assertIsNone(document["slowest"])
        infos = [self.info(run["id"]) for run in runs]
        known = {"duration_s": [i["run"]["duration_s"] for i in infos],
                 "steps_per_s": [self.training_speed(run["id"]) for run in runs],
                 "step_p50_s": [i["steps"]["p50_s"] for i in infos]}
        for name, values in known.items():
            found = measure(document, name)
            self.assertEqual(found["runs"], 3)
            self.assertAlmostEqual(found["min"], min(values), places=9)
            self.assertAlmostEqual(found["max"], max(values), places=9)
            self.assertAlmostEqual(found["mean"], statistics.mean(values), places=9)
            self.assertAlmostEqual(found["standard_deviation"], statistics.stdev(values), places=9)
        self.assertRegex(self.list_lines()[0], rf"^{group} +y +3 repeats ")
        self.assertEqual(len(self.list_lines("--open")), 3)
        text = self.shown(group)
        self.assertIn("3 repeats", text.splitlines()[0])
        self.assertIn("standard deviation", text)
        self.assertRegex(self.shown(runs[1]["id"]), rf"repeat +2 of 3 in {group}")
        self.assertEqual(self.query(group, "select repeat from runs order by 1"), [["1"], ["2"], ["3"]])

    def test_one_repeat_has_no_spread(self):
        # SIGINT ends the series.
        done = self.record(["sh", "-c", "kill -INT $$"], "--repeat", "2", check=False)
        self.assertEqual(done.returncode, -2)
        group = self.listed()[0]["repeat"]["group"]
        document = self.info(group)
        found = measure(document, "duration_s")
        self.assertEqual((found["runs"], found["standard_deviation"]), (1, None))
        self.assertEqual(found["mean"], found["min"])
        text = self.shown(group)
        self.assertIn("1 of 2 repeats", text)
        self.assertIn("only 1 repeat was recorded", text)

    def test_ranks_that_are_repeated_are_groups_of_ranks(self):
        self.record_ranks([slurm(r, 2) for r in (0, 1)], [["true"]] * 2, "--repeat", "2")
        self.assertEqual([row.split()[0] for row in self.list_lines()], ["slurm-4711.0~1", "slurm-4711.0"])
        groups = {run["repeat"]["group"] for run in self.listed()}
        self.assertEqual(len(groups), 2)  # one per rank
        for group in groups:
            self.assertEqual([run["repeat"]["index"] for run in self.info(group)["runs"]], [1, 2])

    def test_a_run_that_is_not_repeated_is_in_no_group(self):
        self.record(["true"])
        self.assertIsNone(self.listed()[0]["repeat"])
        self.assertIsNone(self.info()["repeat"])


if __name__ == "__main__":
    main()
