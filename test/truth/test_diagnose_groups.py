"""Ranks of one job diagnosed together: the planted slow rank is named, and nothing is found where nothing was planted."""
import json
import subprocess

from test_groups import GroupCase, slurm
from trainscope_test import main, python

STEPS, STEP_MS = 100, 25
# Reports steps of a known length with their own timestamps: each has some work of its own, and communication in which it
# waits for the slowest rank. Nothing depends on how busy the machine is.
JOB = """
import os, sys, time
step_ns, work_ns, steps = (int(word) for word in sys.argv[1:])
begin = time.monotonic_ns()
while time.monotonic_ns() < begin + (steps + 1) * step_ns:
    time.sleep(0.001)
with open(os.environ["TRAINSCOPE_PIPE"], "w") as pipe:
    for i in range(1, steps + 1):
        from_ns, to_ns = begin + (i - 1) * step_ns, begin + i * step_ns
        pipe.write(f"begin forward t={from_ns}\\nend forward t={from_ns + work_ns}\\n")
        pipe.write(f"begin communication t={from_ns + work_ns}\\nend communication t={to_ns}\\nstep {i} t={to_ns}\\n")
"""


def rank_job(work_ms):
    return python(JOB, STEP_MS * 1_000_000, int(work_ms * 1_000_000), STEPS)


class Together(GroupCase):
    def record_job(self, work_ms, job_id="4711"):
        """Runs a job of so many ranks, each with its own work per step; returns the ids of the runs by rank."""
        size = len(work_ms)
        codes = self.record_ranks([slurm(r, size, job_id) for r in range(size)], [rank_job(ms) for ms in work_ms])
        self.assertEqual(codes, [0] * size)
        return [run["id"] for run in self.info(f"slurm-{job_id}.0")["runs"]]

    def diagnose(self, *words):
        return json.loads(self.trainscope("diagnose", *words, "--json").stdout)

    def test_the_slow_rank_of_four_is_named(self):
        runs = self.record_job([8, 9, 24, 8])
        document = self.diagnose("slurm-4711.0")
        self.assertEqual(document["schema"], "trainscope.diagnose/1")
        self.assertEqual(document["group"], {"id": "slurm-4711.0", "size": 4})
        self.assertEqual(document["verdict"], "communication_bound")
        self.assertGreater(document["confidence"], 0.9)
        self.assertEqual([f["id"] for f in document["findings"]], ["straggler"])
        found = document["findings"][0]
        self.assertIn("rank 2 needs 24", found["summary"])
        self.assertIn(runs[2], found["advice"])
        self.assertAlmostEqual(found["max_speedup"], STEP_MS / (STEP_MS - 15), places=2)
        self.assertEqual([(r["rank"], r["id"]) for r in document["ranks"]], list(enumerate(runs)))
        for rank, work_ms in zip(document["ranks"], [8, 9, 24, 8]):
            self.assertAlmostEqual(rank["step_s"], STEP_MS / 1000, places=6)
            self.assertAlmostEqual(rank["communication_s"], (STEP_MS - work_ms) / 1000, places=6)
        parts = {part["part"]: part["share"] for part in document["breakdown"]}
        self.assertAlmostEqual(parts["communication"], 1 - (8 + 9 + 24 + 8) / (4 * STEP_MS), places=2)
        self.assertAlmostEqual(sum(parts.values()), 1, places=6)
        text = self.trainscope("diagnose", "slurm-47").stdout.decode()
        self.assertRegex(text, r"\Agroup slurm-4711\.0, 4 ranks\n  verdict   communication_bound: rank 2 needs")
        for rank in range(4):
            self.assertRegex(text, rf"(?m)^  rank {rank}    \w")
        self.assertIn("straggler", self.trainscope("diagnose", "slurm-47", "--explain").stdout.decode())

    def test_two_slow_ranks_do_not_hide_each_other(self):
        self.record_job([8, 8, 8, 24, 24])
        document = self.diagnose("slurm-4711.0")
        self.assertEqual([f["id"] for f in document["findings"]], ["straggler"])
        self.assertRegex(document["findings"][0]["summary"], r"\Aranks (3 and 4|4 and 3) need up to 24")

    def test_nothing_is_found_in_a_job_whose_ranks_are_alike(self):
        self.record_job([24, 24.2, 23.9, 24.1])
        document = self.diagnose("slurm-4711.0")
        self.assertEqual([f["id"] for f in document["findings"]], [])
        self.assertNotEqual(document["verdict"], "communication_bound")

    def test_a_rank_is_judged_by_the_metrics_of_its_machine(self):
        """Local rank 0 recorded them: they are those of the machine, whoever took them."""
        runs = self.record_job([24, 24, 24])

        def seen(run):
            rules = self.diagnose(run, "--explain")["explanation"]
            return {one["what"]: one["value"] for rule in rules for one in rule["seen"]}

        self.assertIsNotNone(seen(runs[2])["CPU taken by the hypervisor"])
        self.assertEqual(self.diagnose("slurm-4711.0")["missing"], [])
        self.trainscope("rm", "--yes", runs[0])
        self.assertIsNone(seen(runs[2])["CPU taken by the hypervisor"])

    def test_ranks_that_are_named_one_by_one_are_compared(self):
        runs = self.record_job([8, 9, 24, 8])
        document = self.diagnose(*runs[1:])
        self.assertEqual([r["rank"] for r in document["ranks"]], [1, 2, 3])
        self.assertEqual(document["group"], {"id": "slurm-4711.0", "size": 4})
        self.assertEqual([f["id"] for f in document["findings"]], ["straggler"])
        # There a bare id is the path of the run's folder.
        done = self.trainscope("diagnose", *runs[1:], "--json", cwd=self.home)
        self.assertEqual(json.loads(done.stdout), document)
        alone = self.diagnose(runs[0])
        self.assertEqual(alone["run"]["id"], runs[0])
        self.assertNotIn("ranks", alone)
        self.assertIn("rank 0 of 4 in slurm-4711.0", self.trainscope("diagnose", runs[0]).stdout.decode())

    def test_unrelated_runs_have_an_answer_each(self):
        for name in ("a1", "a2", "b"):
            self.record(["sleep", "0.1"], "--name", name)
        for words, names in ((["a1", "b"], ["a1", "b"]), (["a*"], ["a1", "a2"]), (["b", "b", "a2"], ["b", "a2"])):
            with self.subTest(words=words):
                document = self.diagnose(*words)
                self.assertEqual(document["schema"], "trainscope.diagnose/1")
                self.assertEqual([d["run"]["name"] for d in document["diagnoses"]], names)
        self.assertEqual(self.diagnose()["run"]["name"], "b")
        titles = [line for line in self.trainscope("diagnose", "a1", "b").stdout.decode().splitlines()
                  if line.startswith("run ")]
        self.assertEqual([title.split()[-1] for title in titles], ["a1", "b"])
        self.assertEqual(self.trainscope("diagnose", "a1", "nothing", check=False).returncode, 2)

    def test_repeats_are_no_job_and_a_damaged_rank_stops_nothing(self):
        self.record(["sleep", "0.1"], "--repeat", "2")
        group = self.listed()[0]["repeat"]["group"]
        self.assertEqual(len(self.diagnose(group)["diagnoses"]), 2)
        runs = self.record_job([8, 9, 24, 8])
        path = next(run["path"] for run in self.listed() if run["id"] == runs[3])
        subprocess.run(["sh", "-c", f"echo damaged > {path}/samples-0001.seg"], check=True)
        document = self.diagnose("slurm-4711.0")
        self.assertEqual([bool(rank["problem"]) for rank in document["ranks"]], [False, False, False, True])
        self.assertIsNone(document["ranks"][3]["verdict"])
        self.assertEqual([f["id"] for f in document["findings"]], ["straggler"])

    def test_a_damaged_run_does_not_stop_the_answers_for_others(self):
        for name in ("exp1", "exp2", "exp3"):
            self.record(["sleep", "0.1"], "--name", name)
        path = next(run["path"] for run in self.listed() if run["name"] == "exp2")
        subprocess.run(["sh", "-c", f"echo damaged > {path}/samples-0001.seg"], check=True)
        done = self.trainscope("diagnose", "exp*", "--json", check=False)
        self.assertEqual(done.returncode, 1)
        answers = json.loads(done.stdout)["diagnoses"]
        self.assertEqual([answer["run"]["name"] for answer in answers], ["exp1", "exp2", "exp3"])
        self.assertEqual([bool(answer.get("problem")) for answer in answers], [False, True, False])
        self.assertIsNone(answers[1]["verdict"])
        text = self.trainscope("diagnose", "exp1", "exp2", "exp3", check=False).stdout.decode()
        self.assertEqual(text.count("verdict   "), 2)
        self.assertIn("cannot be read: ", text)
        self.assertEqual(self.trainscope("diagnose", "exp2", check=False).returncode, 2)

    def test_info_and_diagnose_name_the_same_slow_rank(self):
        runs = self.record_job([8, 9, 24, 8])
        slowest = self.info("slurm-4711.0")["slowest"]
        self.assertEqual((slowest["rank"], slowest["run"], slowest["by"]), (2, runs[2], "own_step_s"))
        self.assertAlmostEqual(slowest["value"], 0.024, places=6)
        self.record_job([24, 24, 24], job_id="4712")
        self.assertIsNone(self.info("slurm-4712.0")["slowest"])


if __name__ == "__main__":
    main()
