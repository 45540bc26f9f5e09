"""`probe` proves what was planted: waits for data, work on the host, and nothing where nothing limits. TRAINSCOPE_LONG=1 also
takes jobs that sleep, and PyTorch."""
# ctest-timeout: 2400
import json
import os
import subprocess
import sys
import unittest

from instrumented_job import torch_python
from probed_run import SLOW_DATA, ProbedRun
from trainscope_test import LONG, main

# With the fake PyTorch: a loader that takes LOAD seconds for a batch, and a job that sleeps for WORK seconds and computes
# for CPU seconds.
JOB = """
import os, sys, time, torch
def compute(until):
    while time.thread_time() < until: pass
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
    compute(time.thread_time() + CPU)
    optimizer.step()
"""
# With PyTorch: each batch takes LOAD seconds in a worker; WORK is how many products of matrices a step has.
TORCH_JOB = SLOW_DATA + """
import sys
torch.set_num_threads(THREADS)
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
# Two ranks that wait for 24 ms for each batch, sleep for 4 ms and add up their gradients.
RANKS_JOB = """
import time, torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 1000000
    def __getitem__(self, i):
        time.sleep(0.003)
        return torch.ones(64)
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
optimizer = torch.optim.SGD(model.parameters(), 1e-9)
for batch in torch.utils.data.DataLoader(Data(), batch_size=8, num_workers=1):
    time.sleep(0.004)
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()
"""
# On a GPU: COUNT layers of SIZE x SIZE; batches have BATCH times WIDTH numbers, so few that reading them takes much less than
# a tenth of a step, and are repeated on the device. WAITS: pinned, pageable or item.
GPU_JOB = """
import torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 1000000
    def __getitem__(self, i): return item
item = torch.full((WIDTH,), 1.0 / WIDTH)
layers = [torch.nn.Linear(SIZE, SIZE, bias=False, device="cuda") for _ in range(COUNT)]
model = torch.nn.Sequential(torch.nn.Linear(WIDTH, SIZE, device="cuda"), *layers)
optimizer = torch.optim.SGD(model.parameters(), 1e-9)
for batch in torch.utils.data.DataLoader(Data(), batch_size=BATCH, pin_memory="WAITS" != "pageable"):
    batch = batch.cuda(non_blocking=True)
    optimizer.zero_grad()
    loss = model(batch.repeat(REPEATS, 1)).sum()
    loss.backward()
    optimizer.step()
    if "WAITS" == "item":
        loss.item()
"""
COMPUTES = {"input": "not_limiting", "host": "limiting"}
LIMITED_BY_DEVICE = {"SIZE": 8192, "COUNT": 4, "BATCH": 8, "WIDTH": 1024, "REPEATS": 128}
LIMITED_BY_LAUNCHES = {"SIZE": 8, "COUNT": 200, "BATCH": 4, "WIDTH": 8, "REPEATS": 1}

# Waits of 6 of 10 ms that are reported, and the marks of a probe for which steps were as long without them.
REPORTED = """
import os, time
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
begin = time.monotonic_ns()
time.sleep(3)
for step in range(1, 281):
    end = begin + step * 10_000_000
    lines = ["phase input 0.006 t=%d" % (end - 4_000_000), "step %d t=%d" % (step, end)]
    if step % 10 == 0:
        block = step // 10
        lines.append("mark probe what=input changed=%d pair=%d discarded=1 duration=0.09 t=%d" % (block % 2, (block - 1) // 2, end))
    os.write(pipe, ("\\n".join(lines) + "\\n").encode())
"""


class Truth(ProbedRun):
    def test_a_wait_for_data_is_proven(self):
        script = self.script(JOB, LOAD=0.006, WORK=0.004, CPU=0)
        document, effects = self.probe_until_clear([sys.executable, "-B", script], {"input": "limiting"}, 30 if LONG else 8)
        self.assertEqual(document["schema"], "trainscope.probe/1")
        self.assertEqual(document["conclusion"], "input-bound, proven")
        self.assertGreaterEqual(effects["input"]["blocks"], 12)
        self.assert_agrees(effects["input"], (0.4, 0.5), 0.05)  # A busy machine lengthens either sleep alike.
        self.assertIn(b"a line of the job", self.done.stderr)
        info = self.info()
        self.assertEqual(info["run"]["tags"], {"probe": "true"})
        self.assertTrue(any("not to be used" in note for note in info["run"]["notes"]))
        diagnosis = json.loads(self.trainscope("diagnose", "--json").stdout)
        self.assertEqual(diagnosis["proof"], document["effects"])
        bounds = [finding["max_speedup"] for finding in diagnosis["findings"] if finding["id"].startswith("input_")]
        self.assertTrue(bounds, diagnosis["findings"])
        for bound in bounds:  # of all steps, also those without a wait, less would be said
            self.assertAlmostEqual(bound, 1 / effects["input"]["low"], places=6)
        self.assertIn(b"input-bound, proven", self.trainscope("diagnose").stdout)

    def test_a_job_that_computes_is_bound_by_the_processor(self):
        script = self.script(JOB, LOAD=0, WORK=0, CPU=0.005)
        document, _ = self.probe_until_clear([sys.executable, "-B", script], COMPUTES, 30 if LONG else 15)
        self.assertTrue(document["conclusion"].startswith("CPU-bound, proven"), document)

    @unittest.skipUnless(LONG, "takes 30 s: TRAINSCOPE_LONG=1")
    def test_input_that_is_free_does_not_limit(self):
        script = self.script(JOB, LOAD=0, WORK=0.01, CPU=0)
        document, effects = self.probe_until_clear([sys.executable, "-B", script], {"input": "not_limiting"}, 30)
        self.assertIn(effects["host"]["verdict"], ("limiting", "cannot_tell"), effects)
        self.assertNotIn("input-bound", document["conclusion"] or "")
        self.assertNotIn("CPU-bound", document["conclusion"] or "")  # It sleeps.

    def test_the_summary_promises_no_more_than_was_proven(self):
        done = self.trainscope("run", "--", sys.executable, self.script(REPORTED))
        self.assertIn(b"verdict   input_bound", done.stderr)
        self.assertIn(b"; at most 1.00 times as fast", done.stderr)
        self.assertIn(b"input is not limiting", self.trainscope("diagnose").stdout)

    def test_a_job_that_is_over_too_soon(self):
        document, effects = self.probe([sys.executable, "-B", self.script("import torch")])
        self.assertEqual({what: (effect["verdict"], effect["blocks"]) for what, effect in effects.items()},
                         dict.fromkeys(("input", "host", "processors"), ("cannot_tell", 0)))
        self.assertTrue(document["problem"])
        self.assertEqual(document["job"], {"exit_code": 0, "signal": None, "ended_by": "exit"})

    def test_a_job_that_nothing_was_changed_in(self):
        """Nothing says that it was changed."""
        document, _ = self.probe(["true"])
        self.assertIn("--instrument found nothing", document["problem"])
        self.assertNotIn("a probe changed", " ".join(self.info()["run"]["notes"]))

    def test_a_later_rank_says_where_the_answer_is(self):
        """Its steps are changed with those of rank 0, which reports the blocks. That is neither a failure nor the job's end."""
        job = [sys.executable, "-B", self.script(JOB, LOAD=0, WORK=0.01, CPU=0)]
        rank = {"SLURM_JOB_ID": "4711", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2", "SLURM_PROCID": "1", "SLURM_LOCALID": "1"}
        done = self.trainscope("probe", "--quiet", "--json", "--for", "3s", "--", *job,
                               env={**self.job_environment(), **rank}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.endswith(b"}\n"))
        document = json.loads(done.stdout)
        self.assertEqual(document["problem"], "the run of rank 0 has the answer; this is rank 1 of slurm-4711.0")
        self.assertEqual({effect["verdict"] for effect in document["effects"]}, {"cannot_tell"})
        self.assertIsNone(document["has_replaced_input"])
        done = self.trainscope("probe", "--quiet", "--json", "--", "true", env={**self.job_environment(), **rank}, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("--instrument found nothing", json.loads(done.stdout)["problem"])

    def test_a_job_that_fails(self):
        """That it failed is part of the answer, whatever was measured before."""
        for source, job, words in (("import torch\nraise SystemExit(3)", {"exit_code": 3, "signal": None, "ended_by": "exit"},
                                    "the job failed: exit code 3; "),
                                   ("import os, torch\nos.kill(os.getpid(), 9)",
                                    {"exit_code": None, "signal": 9, "ended_by": "signal"}, "the job was killed by signal 9 (SIGKILL); ")):
            document, _ = self.probe([sys.executable, "-B", self.script(source)])
            self.assertEqual(document["job"], job)
            self.assertTrue(document["problem"].startswith(words), document["problem"])

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
        done = self.trainscope("probe", "--json", "--", "/does/not/exist", check=False)
        self.assertEqual(done.returncode, 127)
        self.assertTrue(done.stdout.endswith(b"}\n"))
        document = json.loads(done.stdout)
        self.assertEqual(document["problem"], "the job did not start (exit code 127)")
        self.assertEqual({effect["verdict"] for effect in document["effects"]}, {"cannot_tell"})
        self.assertEqual(self.trainscope("probe", check=False).returncode, 2)


@unittest.skipUnless(LONG, "takes 2 min: TRAINSCOPE_LONG=1")
class PyTorch(ProbedRun):
    """LOAD is per item, four of them are a batch; a step computes WORK products. Jobs that wait for data are in
    test_probe_free_input.py."""

    def probe_torch(self, expected, **replacements):
        script = self.script(TORCH_JOB, **replacements)
        return self.probe_until_clear([torch_python(), "-B", script], expected, 60, python_path="")

    def test_a_wait_that_is_hidden(self):
        self.probe_torch({"input": "not_limiting"}, WORKERS=1, LOAD=0.0005, WORK=16, THREADS=1)

    def test_a_job_that_computes(self):
        """The host thread is critical, and the input is not; a thread for each processor needs all of them."""
        document, _ = self.probe_torch(COMPUTES, WORKERS=0, LOAD=0, WORK=40, THREADS=len(os.sched_getaffinity(0)))
        self.assertTrue(document["conclusion"].startswith("CPU-bound, proven"), document)

    def test_ranks_that_wait_for_data(self):
        """They cannot agree on when a queue has drained, so the lengths of their blocks are given."""
        launcher = [torch_python(), "-B", "-m", "torch.distributed.run", "--nproc-per-node", "2"]
        document, effects = self.probe_until_clear([*launcher, self.script(RANKS_JOB)], {"input": "limiting"}, 60, python_path="")
        self.assertEqual(document["conclusion"], "input-bound, proven")
        self.assertLess(effects["input"]["ratio"], 0.6)


class Gpu(ProbedRun):
    def conclusion(self, host, **replacements):
        python = torch_python()
        found = subprocess.run([python, "-c", "import torch; print(torch.cuda.is_available())"], capture_output=True,
                               env=self.environment(), check=False)
        if found.stdout.strip() != b"True":
            self.skipTest("PyTorch finds no GPU")
        document, _ = self.probe_until_clear([python, "-B", self.script(GPU_JOB, **replacements)],
                                             {"input": "not_limiting", "host": host}, 60, python_path="", devices="0")
        return document["conclusion"]

    def test_jobs_that_the_device_limits(self):
        for waits in ("pinned", "pageable", "item"):
            with self.subTest(waits=waits):
                found = self.conclusion("not_limiting", WAITS=waits, **LIMITED_BY_DEVICE)
                self.assertEqual(found, "GPU-bound, proven")

    def test_a_job_that_launches_limit(self):
        for waits in ("pinned", "item"):
            with self.subTest(waits=waits):
                found = self.conclusion("limiting", WAITS=waits, **LIMITED_BY_LAUNCHES)
                self.assertEqual(found, "launch-bound, proven")


if __name__ == "__main__":
    main()
