"""Runs of `trainscope probe` with real jobs."""
import json
import os
import pathlib

from instrumented_job import FAKES
from trainscope_test import BIN, Case

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

    def probe(self, job, *options, code=0, **environment):
        """The JSON of a probe, and {what: its effect}."""
        done = self.trainscope("probe", "--quiet", "--json", *options, "--", *job,
                               env=self.job_environment(**environment), check=False, timeout=600)
        self.assertEqual(done.returncode, code, done.stderr)
        self.done = done
        document = json.loads(done.stdout)
        return document, {effect["what"]: effect for effect in document["effects"]}

    def workload(self, *options):
        """The command of the built-in job, whose steps take some ms on one thread."""
        program = os.path.join(os.path.dirname(BIN), "trainscope-workload")
        if not os.path.exists(program):
            self.skipTest("trainscope-workload was not built")
        return [program, "train", "--model", "digits_cnn", "--batch", "32", "--threads", "1", *options]

    def assert_agrees(self, effect, truth, tolerance):
        """The input limits, and the true ratio is within the interval, give or take the tolerance."""
        self.assertEqual(effect["verdict"], "limiting", effect)
        self.assertGreaterEqual(effect["blocks"], 12, effect)
        self.assert_between(effect["low"] - tolerance, truth, effect["high"] + tolerance, effect["sentence"])

    def assert_verdict(self, effect, expected):
        """On a machine that others keep busy an honest probe cannot tell."""
        is_busy = os.getloadavg()[0] > os.cpu_count() / 2
        self.assertIn(effect["verdict"], (expected, "cannot_tell") if is_busy else (expected,), effect)
