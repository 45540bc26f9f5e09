"""`run --instrument`: steps and input wait of an unmodified script are those that the script measures itself."""
import json
import os
import pathlib
import signal
import sys

from instrumented_job import torch_python
from progress_fifo import PYTHON_CLIENT, ROOT
from trainscope_test import BIN, PATIENCE_S, Case, main, parent_of, processes, recorders, wait_until

FAKES = str(ROOT / "test/support/fake_torch")
# Waits for each batch, then works; prints what it measured of both.
JOB = """
import json, sys, time, torch
waited = 0
class Data(torch.utils.data.Dataset if hasattr(torch.utils.data, "Dataset") else object):
    def __len__(self): return 60
    def __getitem__(self, i):
        global waited
        if i >= len(self): raise IndexError
        began = time.monotonic(); time.sleep(WAIT_S); waited += time.monotonic() - began
        return i
optimizer = OPTIMIZER
began = time.monotonic()
for epoch in range(2):
    for batch in torch.utils.data.DataLoader(Data()):
        time.sleep(0.01)
        optimizer.step()
print(json.dumps({"steps": 120, "input": waited / (time.monotonic() - began)}))
"""
FAKE = {"OPTIMIZER": "torch.optim.SGD()"}
REAL = {"OPTIMIZER": "torch.optim.SGD([torch.nn.Parameter(torch.ones(1))])"}


class Instrument(Case):
    def environment(self, **more):
        kept = {k: v for k, v in super().environment(**more).items() if k != "PYTHONPATH" or k in more}
        return {"PYTHONPATH": FAKES, **kept}

    def script(self, text=JOB, **replacements):
        for name, value in replacements.items():
            text = text.replace(name, value)
        path = self.path("train.py")
        pathlib.Path(path).write_text(text)
        return path

    def notes(self):
        return self.info()["run"]["notes"]

    def events(self):
        return self.trainscope("sql", "latest", "select text from events where kind = 'mark'").stdout.decode()

    def check_truth(self, python, variables, replacements):
        for wait in ("0.03", "0.001"):
            script = self.script(WAIT_S=wait, **replacements)
            done = self.record([python, script], "--instrument", env=self.environment(**variables))
            truth, info = json.loads(done.stdout), self.info()
            self.assertEqual(info["steps"]["source"], "pipe")
            self.assertEqual((info["steps"]["count"], info["steps"]["observed"]), (120, 120))
            parts = {part["part"]: part["share"] for part in info["breakdown"]}
            self.assertAlmostEqual(parts["input"], truth["input"], delta=0.05)

    def test_steps_and_input_wait(self):
        self.check_truth(sys.executable, {}, FAKE)

    def test_steps_and_input_wait_of_pytorch(self):
        self.check_truth(torch_python(), {"PYTHONPATH": ""}, REAL)

    def test_steps_and_input_wait_between_bursts(self):
        """Steps so short that most of them are only noted."""
        text = JOB.replace("return 60", "return 1500").replace("sleep(0.01)", "sleep(0.0003)").replace("120", "3000")
        done = self.record([sys.executable, self.script(text, WAIT_S="0.0006", **FAKE)], "--instrument")
        truth, info = json.loads(done.stdout), self.info()
        self.assertEqual((info["steps"]["count"], info["steps"]["observed"]), (3000, 3000))
        self.assertIn("phases are timed in bursts", self.events())
        parts = {part["part"]: part["share"] for part in info["breakdown"]}
        self.assertAlmostEqual(parts["input"], truth["input"], delta=0.08)
        rows = self.trainscope("sql", "latest", "select count(*), min(duration_s) > 0 from steps where step > 1").stdout
        self.assertEqual(rows.decode().splitlines()[-1], "2999,1")

    def test_what_follows_the_last_step_is_not_part_of_it(self):
        script = self.script("""
import time, torch
def batches():
    for i in range(1500):
        time.sleep(0.0003)
        yield i
iterator, optimizer = iter(torch.utils.data.DataLoader(batches())), torch.optim.SGD()
for _ in range(1400):
    next(iterator)
    optimizer.step()
time.sleep(2)
""")
        self.record([sys.executable, script], "--instrument")
        info = self.info()
        self.assertEqual(info["steps"]["count"], 1400)
        self.assertGreater(info["run"]["duration_s"] - info["steps"]["end_s"], 1.9)

    def test_every_process_of_a_launcher_is_stated(self):
        """As torchrun starts them; the steps of the run are those of rank 0."""
        training = self.script(JOB.replace("range(2)", "range(2 if os.environ['RANK'] == '0' else 1)")
                               .replace("import json", "import os, json"), WAIT_S="0", **FAKE)
        launcher = self.path("launch.py")
        pathlib.Path(launcher).write_text(f"""
import os, subprocess, sys
ranks = [subprocess.Popen([sys.executable, {training!r}], env=dict(os.environ, RANK=str(rank), WORLD_SIZE="2"))
         for rank in range(2)]
sys.exit(max(rank.wait() for rank in ranks))
""")
        self.record([sys.executable, launcher], "--instrument")
        steps = self.info()["steps"]
        self.assertEqual((steps["count"], steps["other_senders"]), (120, [{"who": "rank1", "observed": 60}]))
        text = self.trainscope("info", "latest").stdout.decode()
        self.assertIn("2 processes reported steps; those of rank 0 count (rank1 reported 60)", " ".join(text.split()))
        self.assertIn("; rank 1 of 2", self.events())

    def test_the_folder_goes_with_the_job(self):
        script = self.script("import os; print(os.environ['PYTHONPATH']); print(os.listdir(os.environ['PYTHONPATH'].split(':')[0]))")
        done = self.record([sys.executable, "-B", script], "--instrument")
        path = self.info()["run"]["path"]
        self.assertEqual(done.stdout.decode().split("\n")[0], f"{path}/instrument/startup:{FAKES}")
        self.assertIn("'sitecustomize.py'", done.stdout.decode())
        self.assertNotIn("instrument", os.listdir(path))
        environment = {k: v for k, v in self.environment().items() if k != "PYTHONPATH"}
        done = self.record([sys.executable, "-B", script], "--instrument", env=environment)
        self.assertEqual(done.stdout.decode().split("\n")[0], self.info()["run"]["path"] + "/instrument/startup")

    def test_without_the_option_the_environment_is_the_jobs_own(self):
        done = self.record([sys.executable, self.script("import os; print(os.environ['PYTHONPATH'])")])
        self.assertEqual(done.stdout.decode().strip(), FAKES)
        self.assertEqual(self.notes(), [])

    def test_the_variable_turns_it_on(self):
        self.record([sys.executable, self.script(WAIT_S="0", **FAKE)], env=self.environment(TRAINSCOPE_INSTRUMENT="1"))
        self.assertEqual(self.info()["steps"]["count"], 120)
        self.assertIn("instrumented torch 2.fake: input", self.events())

    def test_the_option_overrules_the_variable(self):
        self.record([sys.executable, self.script(WAIT_S="0", **FAKE)], "--instrument", env=self.environment(TRAINSCOPE_INSTRUMENT="0"))
        self.assertEqual(self.info()["steps"]["count"], 120)

    def test_a_run_inside_of_the_job_is_not_instrumented_unless_it_asks_for_it(self):
        inner = [BIN, "run", "--name", "inner", "--quiet"]
        script = self.script(WAIT_S="0", **FAKE)
        for options, steps in (([], None), (["--instrument"], 120)):
            self.record([*inner, *options, "--", sys.executable, script], "--instrument", "--name", "outer")
            info = json.loads(self.trainscope("info", "inner", "--json").stdout)
            self.assertEqual(info["steps"]["count"], steps)
            setting = next(one for one in info["settings"] if one["name"] == "instrument")
            self.assertEqual(setting["value"], "true" if options else "false")

    def test_steps_of_a_job_that_loads_the_client_and_is_killed(self):
        """The client might still have reported steps itself. What is sent together may be lost, not what came long before."""
        made = self.path("made")
        script = self.script(f"""
import sys
sys.path.insert(0, {str(PYTHON_CLIENT)!r})
import trainscope
trainscope.mark("hello")
""" + JOB.replace("range(2)", "iter(int, 1)").replace("optimizer.step()", f"optimizer.step(); open({made!r}, 'a').write('x')"),
                             WAIT_S="0.01", **FAKE)
        process = self.start([sys.executable, script], "--instrument", env=self.environment())
        wait_until(lambda: self.steps_on_disk() >= 100)
        job = wait_until(lambda: self.job_of(process))
        os.kill(job, signal.SIGKILL)
        self.assertEqual(process.wait(timeout=PATIENCE_S), -signal.SIGKILL)
        info = self.info()
        self.assert_between(100, info["steps"]["count"], os.path.getsize(made))
        self.assertIn("input", {part["part"] for part in info["breakdown"]})

    def steps_on_disk(self):
        done = self.trainscope("info", "latest", "--json", check=False)
        return (json.loads(done.stdout)["steps"]["count"] or 0) if done.returncode == 0 else 0

    def job_of(self, supervisor):
        return next((pid for pid in processes(None, self.home) if parent_of(pid) == supervisor.pid
                     and pid not in recorders(self.home)), None)

    def test_a_job_that_cannot_be_instrumented(self):
        for job in (["/bin/true"], [sys.executable, "-I", "-c", ""], [sys.executable, "-c", "pass"]):
            self.record(job, "--instrument")
            self.assertTrue(any("--instrument found nothing to observe" in note for note in self.notes()), job)
        self.record(["/bin/true"], env=self.environment(TRAINSCOPE_INSTRUMENT="1"))
        self.assertTrue(any("--instrument found nothing to observe" in note for note in self.notes()), self.notes())
        self.record([sys.executable, "-c", "import time; time.sleep(600); import torch"], "--instrument", "--for", "100ms", check=False)
        self.assertTrue(any("or was over before it did" in note for note in self.notes()), self.notes())
        self.record([sys.executable, self.script(WAIT_S="0", **FAKE)], "--instrument")
        self.assertEqual(self.notes(), [])

    def test_a_crash_is_the_jobs_own(self):
        script = self.script(WAIT_S="0", **FAKE)
        with open(script, "a", encoding="utf-8") as file:
            file.write("raise ValueError('broken')\n")
        bare = self.trainscope(script, program=sys.executable, check=False, env=self.environment())
        done = self.record([sys.executable, script], "--instrument", check=False)
        self.assertEqual((done.returncode, done.stderr), (bare.returncode, bare.stderr))
        self.assertEqual(self.info()["steps"]["count"], 120)

    def test_rm_removes_what_a_killed_run_left(self):
        self.record(["/bin/true"], "--instrument")
        path = self.info()["run"]["path"]
        os.makedirs(f"{path}/instrument/modules/__pycache__")
        pathlib.Path(f"{path}/instrument/modules/__pycache__/trace.pyc").write_bytes(b"")
        os.symlink("/tmp", f"{path}/instrument/link")
        self.trainscope("rm", "latest", "--yes")
        self.assertFalse(os.path.exists(path))
        self.assertTrue(os.path.exists("/tmp"))


if __name__ == "__main__":
    main()
