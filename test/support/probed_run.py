"""Runs of `trainscope probe` with real jobs."""
import json
import os
import pathlib
import sys

from instrumented_job import FAKES
from trainscope_test import BIN, Case

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "diagnosis"))
from planted import MOST_BACKGROUND, background, stolen  # noqa: E402

CANNOT_TELL = "cannot_tell"
LONGEST_S = 240  # of a probe beside load that hides an effect from shorter ones
# The beginning of jobs with PyTorch: each item takes LOAD seconds to read.
SLOW_DATA = """
import time, torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 1000000
    def __getitem__(self, i):
        time.sleep(LOAD)
        return torch.full((4,), float(i))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-9)
"""


class ProbedRun(Case):
    def script(self, text, **replacements):
        for name, value in replacements.items():
            text = text.replace(name, str(value))
        path = self.path("train.py")
        pathlib.Path(path).write_text(text, encoding="utf-8")
        return path

    def job_environment(self, python_path=FAKES, devices=""):
        return self.environment(PYTHONPATH=python_path, OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES=devices,
                                TF_CPP_MIN_LOG_LEVEL="3")

    def probe(self, job, *options, **environment):
        """The JSON of a probe, and {what: its effect}."""
        done = self.trainscope("probe", "--quiet", "--json", *options, "--", *job,
                               env=self.job_environment(**environment), check=False, timeout=600)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.done = done
        document = json.loads(done.stdout)
        is_measured = any(effect["ratio"] is not None for effect in document["effects"])
        self.assertEqual(done.returncode, 0 if is_measured else 1, done.stderr)
        return document, {effect["what"]: effect for effect in document["effects"]}

    def probe_until_clear(self, job, expected, seconds, **environment):
        """The same of a probe with these verdicts, {what: verdict}. On a machine that others keep busy an honest probe cannot
        tell in a short time: then a longer one is tried. None may give another verdict, or draw a conclusion without one.
        The longest must be able to tell, unless the machine was busy during it too."""
        while True:
            document, effects = self.probe(job, "--for", f"{seconds}s", **environment)
            verdicts = {what: effects[what]["verdict"] if what in effects else CANNOT_TELL for what in expected}
            if verdicts == expected:
                return document, effects
            for what, verdict in verdicts.items():
                self.assertIn(verdict, (expected[what], CANNOT_TELL), document)
            self.assertIsNone(document["conclusion"], document)
            self.assertNotIn("stopped", document["problem"] or "")
            if seconds >= LONGEST_S:
                others = background(info := self.info()) + stolen(info)
                self.assertGreater(others, MOST_BACKGROUND * os.cpu_count(), document)
                self.skipTest(f"cannot tell in {seconds} s next to {others:.2f} cores of other work")
            print(f"cannot tell in {seconds} s:", [effect["sentence"] for effect in effects.values()], flush=True)
            seconds = min(4 * seconds, LONGEST_S)

    def workload(self, *options):
        """The command of the built-in job, whose steps take some ms on one thread."""
        program = os.path.join(os.path.dirname(BIN), "trainscope-workload")
        if not os.path.exists(program):
            self.skipTest("trainscope-workload was not built")
        return [program, "train", "--model", "digits_cnn", "--batch", "32", "--threads", "1", *options]

    def assert_agrees(self, effect, truths, tolerance):
        """The true ratio is within the interval, give or take the tolerance. It is one of these or lies between them."""
        self.assertGreaterEqual(effect["blocks"], 12, effect)
        self.assert_between(effect["low"], effect["ratio"], effect["high"], effect["sentence"])
        nearest = min(max(truths), max(min(truths), effect["ratio"]))
        self.assert_between(effect["low"] - tolerance, nearest, effect["high"] + tolerance, effect["sentence"])
