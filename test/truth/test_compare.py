"""Comparisons of runs whose step times are known: the job reports them, so nothing depends on how fast this machine is."""
import json
import os
import pathlib
import random
import statistics
import unittest

from trainscope_test import COUNTING_UNTIL_INPUT, Case, main, python

# The logs that a collect script left on a laptop; they are not part of this project.
COLLECT_LOGS = pathlib.Path(os.environ.get("TRAINSCOPE_COLLECT_LOGS",
                                           pathlib.Path(__file__).resolve().parents[3] / "shared/data/collect-logs"))
STEPS = 900
# Reports steps of the durations in its argument.
JOB = """
import os, sys
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
for step, duration in enumerate(sys.argv[1].split(","), 1):
    os.write(pipe, f"step {step} duration={duration}\\n".encode())
"""


def durations(seed, mean, steps=STEPS):
    """Step times around a mean that depend on the ones before them."""
    chance, x, out = random.Random(seed), 0.0, []
    for _ in range(steps):
        x = 0.7 * x + chance.gauss(0, 0.05)
        out.append(round(mean * max(0.3, 1 + x), 6))
    return out


class Compared(Case):
    def plant(self, name, values, *options):
        self.record(python(JOB, ",".join(map(str, values))), "--name", name, *options)

    def compare(self, *words):
        return json.loads(self.trainscope("compare", *words, "--json").stdout)


class KnownDifference(Compared):
    def setUp(self):
        super().setUp()
        self.a, self.b = durations(1, 0.006), durations(2, 0.006 * 1.3)
        self.plant("a", self.a)
        self.plant("b", self.b)

    def test_a_slow_down_is_found_around_its_truth(self):
        document = self.compare("a", "b")
        self.assertEqual(document["schema"], "trainscope.compare/1")
        speed = document["speed"]
        truth = statistics.fmean(self.a) / statistics.fmean(self.b)
        self.assertEqual(speed["verdict"], "slower")
        self.assertAlmostEqual(speed["ratio"], truth, delta=0.002)
        self.assertLessEqual(speed["low"], 1 / 1.3)
        self.assertGreaterEqual(speed["high"], 1 / 1.3)
        self.assertLess(speed["high"] - speed["low"], 0.1)
        self.assertIn("these two runs", speed["sentence"])
        self.assertEqual(self.compare("b", "a")["speed"]["verdict"], "faster")
        step_time = next(m for m in document["metrics"] if m["name"] == "train.step.duration")
        self.assertEqual((step_time["verdict"], step_time["unit"]), ("higher", "s"))
        self.assertAlmostEqual(step_time["a"], statistics.fmean(self.a), delta=1e-5)

    def test_keys_of_the_contract(self):
        document = self.compare("a", "b", "--explain")
        self.assertEqual(len(document["a"]["runs"]), 1)
        self.assertLessEqual({"metric", "ratio", "low", "high", "p", "verdict", "sentence"}, set(document["speed"]))
        self.assertLessEqual({"verdict", "sentence"}, set(document["behaviour"]))
        for metric in document["metrics"]:
            self.assertLessEqual({"name", "labels", "unit", "a", "b", "difference", "ratio", "low", "high", "p", "p_adjusted",
                                  "verdict"}, set(metric))
            self.assertIn(metric["verdict"], ("higher", "lower", "same", "cannot_tell"))
            if metric["low"] is not None and metric["high"] is not None:
                self.assertLessEqual(metric["low"], metric["ratio"])
                self.assertLessEqual(metric["ratio"], metric["high"])
        for part in document["attribution"]:
            self.assertLessEqual({"part", "difference_s", "share"}, set(part))
        self.assertLessEqual({"warnings", "cost", "energy"}, set(document))
        self.assertIn("time per step is the same", document["explanation"][0]["null_hypothesis"])

    def exit_code(self, *words):
        return self.trainscope("compare", *words, check=False).returncode

    def test_fail_if(self):
        self.assertEqual(self.exit_code("a", "b", "--fail-if", "slower:5%"), 1)
        self.assertEqual(self.exit_code("b", "a", "--fail-if", "slower:5%"), 0)
        self.assertEqual(self.exit_code("a", "b", "--fail-if", "slower:60%"), 0)
        for nonsense in ("slower:maybe", "slower", "slower:5", "faster:5%", "slower:-1%", ""):
            self.assertEqual(self.exit_code("a", "b", "--fail-if", nonsense), 2, nonsense)
        self.record(["true"], "--name", "none")
        done = self.trainscope("compare", "a", "none", "--fail-if", "slower:5%")
        self.assertIn(b"cannot tell whether B is more than 5 % slower", done.stderr)
        done = self.trainscope("compare", "b", "a", "none", "--fail-if", "slower:5%")
        self.assertEqual(done.stderr.count(b"cannot tell"), 1)
        self.assertIn(b"cannot tell whether B, 'none', is more than 5 % slower", done.stderr)

    def test_usage(self):
        for words in ((), ("a",), ("a", "no-such-run"), ("a", "b,"), ("a", "b", "--json", "--markdown"),
                      ("a", "b", "--same-within", "much"), ("a", "b", "--same-within", ""), ("a", "b", "--align", "colour")):
            self.assertEqual(self.exit_code(*words), 2, words)

    def test_text_and_markdown(self):
        text = self.trainscope("compare", "a", "b", "--explain").stdout.decode()
        self.assertIn("B is slower: 0.7", text)
        self.assertIn("null hypothesis", text)
        self.assertLess(text.index("speed"), text.index("hardware"))
        for line in text.splitlines():
            if not line.startswith("  ") or "{" not in line:
                self.assertLessEqual(len(line), 80, line)
        markdown = self.trainscope("compare", "a", "b", "--markdown").stdout.decode()
        self.assertIn("|---|---:|---:|---:|---:|---|", markdown)
        self.assertRegex(markdown, r"\| time per step \| [\d.]+ ms \| [\d.]+ ms \| 1\.\d+ ")

    def test_several_sides_are_each_compared_with_the_first(self):
        documents = self.compare("a", "b", "a")["comparisons"]
        self.assertEqual([d["speed"]["verdict"] for d in documents][0], "slower")
        self.assertEqual(documents[1]["speed"]["ratio"], 1)


class NoDifference(Compared):
    def test_the_same_job_twice_is_not_called_different(self):
        self.plant("a", durations(3, 0.006))
        self.plant("b", durations(4, 0.006))
        speed = self.compare("a", "b")["speed"]
        self.assertIn(speed["verdict"], ("same", "cannot_tell"))
        self.assertLess(speed["low"], 1)
        self.assertGreater(speed["high"], 1)

    def test_a_run_and_itself(self):
        self.plant("a", durations(3, 0.006))
        document = self.compare("a", "a")
        self.assertEqual(document["speed"]["ratio"], 1)
        self.assertIn(document["speed"]["verdict"], ("same", "cannot_tell"))
        self.assertIn("same_run", [w["id"] for w in document["warnings"]])

    def test_repeats_that_vary_more_than_they_differ(self):
        for k, mean in enumerate((0.0060, 0.0066, 0.0063)):
            self.plant(f"old-{k}", durations(10 + k, mean, 200))
            self.plant(f"new-{k}", durations(20 + k, mean * 1.02, 200))
        document = self.compare("old-0,old-1,old-2", "new-*")
        self.assertEqual((len(document["a"]["runs"]), len(document["b"]["runs"])), (3, 3))
        self.assertEqual(document["speed"]["verdict"], "cannot_tell")
        self.assertIn("over 3 runs of A and 3 of B", document["speed"]["sentence"])
        self.assertEqual(document["about"], "configurations")


class UnequalRuns(Compared):
    def test_a_run_without_steps(self):
        self.plant("a", durations(1, 0.006))
        self.record(["sleep", "0.3"], "--name", "none")
        for words in (("a", "none"), ("none", "a"), ("none", "none")):
            document = self.compare(*words)
            self.assertIsNone(document["speed"]["ratio"])
            self.assertEqual(document["speed"]["verdict"], "cannot_tell")
            self.assertIn("was not compared", document["speed"]["sentence"])
            self.assertGreater(len(document["behaviour"]["sentence"]), 20)

    def test_one_step_and_one_sample(self):
        self.plant("a", [0.006])
        self.plant("b", [0.012])
        speed = self.compare("a", "b")["speed"]
        self.assertEqual(speed["verdict"], "cannot_tell")
        self.assertIsNone(speed["low"])
        self.record(["true"], "--name", "short", "--every", "10s")
        self.assertEqual(self.compare("short", "a")["speed"]["verdict"], "cannot_tell")

    def test_different_periods_are_a_warning(self):
        self.plant("a", durations(1, 0.006), "--every", "10ms")
        self.plant("b", durations(2, 0.006), "--every", "50ms")
        self.assertIn("period", [w["id"] for w in self.compare("a", "b")["warnings"]])

    def test_a_running_run(self):
        self.plant("a", durations(1, 0.006))
        process = self.start(python(COUNTING_UNTIL_INPUT), "--name", "running", stdin=-1)
        self.wait_for_samples(3)
        self.assertIn("running", [w["id"] for w in self.compare("a", "running")["warnings"]])
        process.stdin.close()
        process.wait()

    def test_a_damaged_run(self):
        self.plant("a", durations(1, 0.006))
        self.plant("b", durations(2, 0.006))
        newest = sorted(os.listdir(self.home))[-1]
        for name in os.listdir(os.path.join(self.home, newest)):
            path = pathlib.Path(self.home, newest, name)
            if name.endswith(".seg"):
                data = bytearray(path.read_bytes())
                for at in range(len(data) // 3, len(data), 97):
                    data[at] ^= 0xFF
                path.write_bytes(data)
        document = self.compare("a", newest)
        self.assertEqual(document["schema"], "trainscope.compare/1")
        self.assertEqual(document["speed"]["verdict"], "cannot_tell")
        self.assertIsNone(document["speed"]["low"])
        self.assertNotIn("software", [w["id"] for w in document["warnings"]])

    def test_names_of_runs_stay_text(self):
        self.plant("a|b", durations(1, 0.006))
        self.plant("c", durations(2, 0.0078))
        markdown = self.trainscope("compare", "a|b", "c", "--markdown").stdout.decode()
        self.assertIn("a\\|b", markdown)


def logged(name, run, column, skip_words=0):
    """The numbers in this column of a log, read without the program: per cent signs are left out, words in front too."""
    rows = [line.split() for line in (COLLECT_LOGS / run / name).read_text(encoding="ascii").splitlines() if line.strip()]
    return [float(row[skip_words + column].rstrip("%")) for row in rows]


@unittest.skipUnless(COLLECT_LOGS.is_dir(), "the published logs are not here")
class PublishedRuns(Compared):
    """One run on the CPU and one on the GPU of a laptop, whose means were published."""

    def setUp(self):
        super().setUp()
        for name in ("cpu", "gpu"):
            self.trainscope("import", "--from", "collect-logs", str(COLLECT_LOGS / name), "--name", name)
        self.document = self.compare("cpu", "gpu")

    def compared(self, name):
        return next(metric for metric in self.document["metrics"] if metric["name"] == name)

    def check(self, name, values, published, digits):
        """`values`: of a run, in the unit that was published. The logs have these means, and the comparison has those of the logs."""
        scale = 1 if self.compared(name)["unit"] == "Cel" else 100
        for side, run, mean in zip("ab", ("cpu", "gpu"), published):
            self.assertEqual(round(statistics.fmean(values(run)), digits), mean, (name, run))
            self.assertEqual(round(scale * self.compared(name)[side], digits), mean, (name, run))

    def check_largest(self, name, values, published):
        for run, largest in zip(("cpu", "gpu"), published):
            found = next(m for m in self.info(run)["metrics"] if m["name"] == name)
            self.assertEqual((max(values(run)), found["max"]), (largest, largest), (name, run))

    def test_means_of_the_published_runs(self):
        self.check("system.cpu.utilization", lambda run: [100 - idle for idle in logged("cpu.out", run, 9)], (75.6, 14.4), 1)
        self.check("hw.temperature", lambda run: logged("cputemp.out", run, 0), (89.85, 83.65), 2)
        self.check("hw.gpu.temperature", lambda run: logged("gputemp.out", run, 0), (61.57, 81.59), 2)
        self.check("system.memory.utilization", lambda run: [
            100 * used / total for total, used in zip(logged("memory.out", run, 0, 1), logged("memory.out", run, 1, 1))],
            (25.9, 23.7), 1)
        self.check("system.disk.utilization", lambda run: logged("disk.out", run, 14), (0.85, 0.82), 2)

    def test_highest_temperatures_of_the_published_runs(self):
        self.check_largest("hw.temperature", lambda run: logged("cputemp.out", run, 0), (96, 97))
        self.check_largest("hw.gpu.temperature", lambda run: logged("gputemp.out", run, 0), (63, 84))

    def test_answer_about_the_published_runs(self):
        behaviour, speed = self.document["behaviour"], self.document["speed"]
        self.assertEqual(behaviour["verdict"], "different")
        self.assertTrue(behaviour["sentence"].startswith(
            "The hardware behaves differently: processor 75.6 % → 14.4 %, memory 25.9 % → 23.7 %, temperature 89.9 °C → 83.7 °C, "
            "GPU temperature 61.6 °C → 81.6 °C (this is about these two runs"), behaviour["sentence"])
        self.assertIn(self.compared("system.disk.utilization")["verdict"], ("same", "cannot_tell"))
        self.assertIsNone(speed["ratio"])
        self.assertIn("no steps", speed["sentence"])


if __name__ == "__main__":
    main()
