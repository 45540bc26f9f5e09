"""Jobs that run with the module of `run --instrument`, without a run: what they send to the pipe, and whether they
behave as without it."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import unittest

from progress_fifo import ROOT, FifoCase, outside_a_run

SOURCES = ROOT / "python/instrument"
_VARIABLE = "TRAINSCOPE_TORCH_PYTHON"
FAKES = str(ROOT / "test/support/fake_torch")
# Trains with the fake PyTorch.
MODEL = """
import sys, time, torch
def train(loader, optimizer=None, every=1):
    "Updates after every few batches; returns how many steps that makes."
    optimizer, steps = optimizer or torch.optim.SGD(), 0
    for i, batch in enumerate(loader):
        torch.Tensor(0.5).backward()
        if (i + 1) % every == 0:
            optimizer.step()
            steps += 1
    return steps
def loader(count=20, wait=0):
    def batches():
        for _ in range(count):
            time.sleep(wait)
            yield [torch.Tensor()]
    return torch.utils.data.DataLoader(batches())
"""


@functools.lru_cache(None)
def has_module(python, module):
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", code], env=outside_a_run(), check=False).returncode == 0


def torch_python(*modules):
    return python_with("torch", *modules)


def python_with(*modules):
    """A Python that has these modules; skips the test if there is none."""
    python = os.environ.get(_VARIABLE, sys.executable)
    missing = [module for module in modules if not has_module(python, module)]
    if missing:
        raise unittest.SkipTest(f"{missing[-1]} is missing (pip install {' '.join(missing)}, or set {_VARIABLE} to a "
                                "Python that has it)")
    return python


def tensorflow_python():
    found = subprocess.run([ROOT / "scripts/fetch-tensorflow", "--where"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise unittest.SkipTest("TensorFlow is missing: scripts/fetch-tensorflow")
    return found.stdout.strip()


def install(folder):
    """The files as a run has them; returns the folder for PYTHONPATH."""
    for part in ("startup", "modules"):
        shutil.copytree(SOURCES / part, pathlib.Path(folder) / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "python/trainscope/_pipe.py", pathlib.Path(folder) / "modules")
    return os.path.join(folder, "startup")


class InstrumentedCase(FifoCase):
    def setUp(self):
        super().setUp()
        self.startup = install(self.path("instrument"))

    def environment(self, is_bare=False, python_path="", **more):
        paths = [path for path in ([] if is_bare else [self.startup]) + [python_path] if path]
        more = {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1",
                "OMP_NUM_THREADS": "1", **more}
        variables = self.fifo.environment(**more)
        variables.pop("PYTHONPATH", None)
        return {**variables, "PYTHONPATH": ":".join(paths)} if paths else variables

    def run_job(self, python, source, *arguments, options=(), code=0, **environment):
        """Runs this source as a script; returns the finished process."""
        script = self.path("job.py")
        pathlib.Path(script).write_text(textwrap.dedent(source))
        done = subprocess.run([python, *options, script, *map(str, arguments)], env=self.environment(**environment),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, code, done.stderr.decode(errors="replace"))
        return done

    def sent_by(self, python, source, *arguments, **keywords):
        """The lines that a job sends; `job` is the finished process."""
        self.job = self.run_job(python, source, *arguments, **keywords)
        return Lines(self.fifo.sent())


class FakeTorchCase(InstrumentedCase):
    """Jobs that train with the fake PyTorch."""

    def sent(self, source, **keywords):
        return self.sent_by(sys.executable, MODEL + source, python_path=FAKES, **keywords)

    def assert_steps(self, lines, count, who=None):
        self.assertEqual([step["number"] for step in lines.steps(who)], list(range(1, count + 1)), lines.all)


class Lines:
    """Lines without timestamps, of the senders that the test asks for."""

    def __init__(self, lines):
        self.all = lines

    def of(self, who=None):
        """Of one sender, without its name; None: the lines without one."""
        if who is None:
            return [line for line in self.all if " who=" not in line]
        return [line[:-len(who) - 5] for line in self.all if line.endswith(" who=" + who)]

    def senders(self):
        return {match[1] if match else None for match in (re.search(r" who=(\S+)$", line) for line in self.all)}

    def marks(self):
        return [line[5:] for line in self.all if line.startswith("mark ")]

    def starting(self, *words, who=None):
        return [line for line in self.of(who) if line.startswith(words)]

    def steps(self, who=None):
        """{name: value} of each step; "number" is its number."""
        found = []
        for line in self.starting("step", who=who):
            words = line.split()
            pairs = dict(word.split("=") for word in words[2:])
            found.append({"number": int(words[1]), **{name: float(value) for name, value in pairs.items()}})
        return found

    def phase_s(self, name, who=None):
        """Durations of the phases of this name."""
        return [float(line.split()[2]) for line in self.starting(f"phase {name} ", who=who)]
