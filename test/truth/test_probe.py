"""`probe` proves what was planted: waits for data, work on the host, and nothing where nothing limits."""
# ctest-timeout: 900
import json
import os
import pathlib
import signal
import subprocess
import sys

from instrumented_job import FAKES, torch_python
from trainscope_test import BIN, Case, main, process_state, wait_until

# With the fake PyTorch: a loader that takes LOAD seconds for a batch, and a job that computes for WORK seconds.
JOB = """
import os, sys, time, torch
class Data:
    def __len__(self): return 100000
    def __iter__(self):
        for i in range(len(self)):
            time.sleep(LOAD)
            yield [torch.Tensor(i)]
optimizer = torch.optim.SGD()
print("a line of the job", flush=True)
for step, batch in enumerate(torch.utils.data.DataLoader(Data())):
    time.sleep(WORK)
    optimizer.step()
"""
# With PyTorch: each batch takes LOAD seconds in a worker; WORK is how many products of matrices a step has.
TORCH_JOB = """
import sys, time, torch
torch.set_num_threads(1)
class Data(torch.utils.data.Dataset):
    def __len__(self): return 1000000
    def __getitem__(self, i):
        time.sleep(LOAD)
        return torch.full((4,), float(i))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-9)
matrix = torch.rand(300, 300)
def main():
    for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=WORKERS):
        for _ in range(WORK):
            matrix @ matrix
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
if __name__ == "__main__":
    main()
"""
# On a GPU: a step is COUNT products of SIZE x SIZE matrices; batches are in memory.
GPU_JOB = """
import torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 1000000
    def __getitem__(self, i): return torch.ones(4)
model = torch.nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), 1e-9)
matrix = torch.rand(SIZE, SIZE, device="cuda") / SIZE
for batch in torch.utils.data.DataLoader(Data(), batch_size=4):
    x = matrix
    for _ in range(COUNT):
        x = x @ matrix
    optimizer.zero_grad()
    (model(batch.cuda(non_blocking=True)).sum() + 0 * x.sum()).backward()
    optimizer.step()
"""


class Probed(Case):
    def script(self, text, **replacements):
        for name, value in replacements.items():
            text = text.replace(name, str(value))
        path = self.path("train.py")
        pathlib.Path(path).write_text(text, encoding="utf-8")
        return path

    def probe(self, python, script, *options, code=0, python_path=FAKES, devices=""):
        """The JSON of a probe, and {what: its effect}."""
        environment = self.environment(PYTHONPATH=python_path, OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES=devices)
        done = self.trainscope("probe", "--quiet", "--json", *options, "--", python, "-B", script, env=environment,
                               check=False, timeout=300)
        self.assertEqual(done.returncode, code, done.stderr)
        self.done = done
        document = json.loads(done.stdout)
        return document, {effect["what"]: effect for effect in document["effects"]}


    def assert_verdict(self, effect, expected):
        """On a machine that others keep busy an honest probe cannot tell."""
        is_busy = os.getloadavg()[0] > os.cpu_count()
        self.assertIn(effect["verdict"], (expected, "cannot_tell") if is_busy else (expected,), effect)


class Truth(Probed):
    def test_a_wait_for_data_is_proven(self):
        script = self.script(JOB, LOAD=0.006, WORK=0.004)
        document, effects = self.probe(sys.executable, script, "--for", "30s")
        self.assertEqual(document["schema"], "trainscope.probe/1")
        self.assertEqual(document["conclusion"], "input-bound, proven")
        self.assertEqual(effects["input"]["verdict"], "limiting")
        self.assert_between(0.3, effects["input"]["ratio"], 0.55)
        self.assertLessEqual(effects["input"]["low"], effects["input"]["ratio"])
        self.assertGreaterEqual(effects["input"]["high"], effects["input"]["ratio"])
        self.assertGreaterEqual(effects["input"]["blocks"], 12)
        self.assertIn(b"a line of the job", self.done.stderr)
        info = self.info()
        self.assertEqual(info["run"]["tags"], {"probe": "true"})
        self.assertTrue(any("not to be used" in note for note in info["run"]["notes"]))
        diagnosis = json.loads(self.trainscope("diagnose", "--json").stdout)
        self.assertEqual(diagnosis["proof"], document["effects"])
        self.assertIn(b"input-bound, proven", self.trainscope("diagnose").stdout)

    def test_input_that_is_free_does_not_limit(self):
        document, effects = self.probe(sys.executable, self.script(JOB, LOAD=0, WORK=0.01), "--for", "30s")
        self.assert_verdict(effects["input"], "not_limiting")
        self.assertIn(effects["host"]["verdict"], ("limiting", "cannot_tell"), effects)
        self.assertNotIn("input-bound", document["conclusion"] or "")

    def test_a_job_that_is_over_too_soon(self):
        document, effects = self.probe(sys.executable, self.script("import torch"), code=1)
        self.assertEqual(effects, {})
        self.assertTrue(document["problem"])

    def test_the_job_ends_when_enough_is_known(self):
        """What the modules send then; in a run that is no probe it is a mark like any other."""
        job = ["sh", "-c", 'echo "mark probe finished" 1<>"$TRAINSCOPE_PIPE"; exec sleep "$0"']
        done = self.trainscope("probe", "--quiet", "--json", "--", *job, "600", check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.info()["job"]["ended_by"], "time_limit")
        self.record([*job, "1"])
        self.assertEqual(self.info()["job"]["ended_by"], "exit")

    def test_a_job_that_does_not_start(self):
        done = self.trainscope("probe", "--", "/does/not/exist", check=False)
        self.assertEqual(done.returncode, 127)
        self.assertEqual(self.trainscope("probe", check=False).returncode, 2)

    def test_killed_while_something_is_changed(self):
        """The job goes on as it was: epochs of the same length, all CPUs, all threads, batches one after the other."""
        script = self.script("""
import json, os, sys, time, torch
class Data:
    def __len__(self): return 40
    def __iter__(self):
        for i in range(40):
            time.sleep(0.002)
            yield [torch.Tensor(i)]
optimizer, counts, values = torch.optim.SGD(), [], []
cpus, threads = len(os.sched_getaffinity(0)), torch.get_num_threads()
supervisor = os.getppid()
def is_dead():
    return os.getppid() != supervisor
while not is_dead() or len(counts) < 60:
    counts.append(0)
    values = []
    for batch in torch.utils.data.DataLoader(Data()):
        counts[-1] += 1
        values.append(batch[0].value)
        time.sleep(0.002)
        optimizer.step()
counts.append(0)
for batch in torch.utils.data.DataLoader(Data()):
    counts[-1] += 1
    values.append(batch[0].value)
    optimizer.step()
json.dump([sorted(set(counts)), values[-40:], len(os.sched_getaffinity(0)) == cpus, torch.get_num_threads() == threads],
          open(sys.argv[1] + ".part", "w"))
os.rename(sys.argv[1] + ".part", sys.argv[1])
""")
        answer = self.path("answer")
        environment = self.environment(PYTHONPATH=FAKES)
        process = subprocess.Popen([BIN, "probe", "--quiet", "--for", "60s", "--", sys.executable, "-B", script, answer],
                                   env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: b"what=input" in self.trainscope(
            "sql", "latest", "select text from events where kind = 'mark'", check=False).stdout)
        process.send_signal(signal.SIGKILL)
        wait_until(lambda: process_state(process.pid) in ("", "Z"))
        wait_until(lambda: os.path.exists(answer))
        counts, values, has_cpus, has_threads = json.loads(pathlib.Path(answer).read_text(encoding="utf-8"))
        self.assertEqual((counts, values, has_cpus, has_threads), ([40], list(range(40)), True, True))


class PyTorch(Probed):
    """LOAD is per item, four of them are a batch; a step computes for about 4 ms."""

    def probe_torch(self, **replacements):
        return self.probe(torch_python(), self.script(TORCH_JOB, **replacements), "--for", "60s", python_path="")

    def test_waits_for_data_with_0_1_and_4_workers(self):
        for workers, load in ((0, 0.003), (1, 0.003), (4, 0.02)):
            _, effects = self.probe_torch(WORKERS=workers, LOAD=load, WORK=4)
            self.assert_verdict(effects["input"], "limiting")

    def test_a_wait_that_is_hidden(self):
        _, effects = self.probe_torch(WORKERS=1, LOAD=0.0005, WORK=16)
        self.assert_verdict(effects["input"], "not_limiting")


class Workload(Probed):
    """The built-in job, whose steps take some ms, with and without an input that takes 20 ms longer."""

    def probe_workload(self, *options):
        workload = os.path.join(os.path.dirname(BIN), "trainscope-workload")
        if not os.path.exists(workload):
            self.skipTest("trainscope-workload was not built")
        done = self.trainscope("probe", "--quiet", "--json", "--for", "25s", "--", workload, "train", "--model",
                               "digits_cnn", "--batch", "32", "--threads", "1", "--seconds", "60", *options,
                               env=self.environment(), check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {effect["what"]: effect for effect in json.loads(done.stdout)["effects"]}

    def test_slow_input_is_proven(self):
        self.assert_verdict(self.probe_workload("--input", "slow:20ms")["input"], "limiting")

    def test_input_that_is_drawn_in_time_does_not_limit(self):
        self.assertNotEqual(self.probe_workload()["input"]["verdict"], "limiting")


class Gpu(Probed):
    def probe_gpu(self, **replacements):
        python = torch_python()
        found = subprocess.run([python, "-c", "import torch; print(torch.cuda.is_available())"], capture_output=True,
                               env=self.environment(), check=False)
        if found.stdout.strip() != b"True":
            self.skipTest("PyTorch finds no GPU")
        return self.probe(python, self.script(GPU_JOB, **replacements), "--for", "90s", python_path="", devices="0")

    def test_a_job_that_the_device_limits(self):
        document, effects = self.probe_gpu(SIZE=4096, COUNT=8)
        self.assertEqual(document["conclusion"], "GPU-bound, proven", effects)

    def test_a_job_that_launches_limit(self):
        document, effects = self.probe_gpu(SIZE=8, COUNT=300)
        self.assertEqual(document["conclusion"], "launch-bound, proven", effects)


if __name__ == "__main__":
    main()
