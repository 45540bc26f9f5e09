"""The pages in a real browser, on runs recorded here: what a person sees, does with mouse and keys, and downloads.

*.test.mjs have the tests; this file records the runs, starts `trainscope view` and reports what node says.
"""
# ctest-timeout: 1200
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from trainscope_test import BIN, Case, end, kill_all_of, main, python

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What ctest gives this file; what is found out by then is told a little earlier.
UNTIL = time.monotonic() + float(os.environ.get("TRAINSCOPE_TEST_LIMIT_S", "3600")) - 180
HANGS_MS = 900_000  # one of the tests: node names it, and goes on
# As node tells of a test that failed.
FAILED = re.compile(r"^\s*✖ (?!failing tests).+ \([\d.]+ms\)$")
HOSTILE = "<img src=x onerror=alert(1)>\"&'"

# Reports steps with phases, losses, evaluations and lines of output, and makes a picture now and then; 4 s with the longer wait.
# Steps and phases have their own timestamps: on a busy machine they may arrive together. What waits there longer waits for input.
JOB = """
import base64, os, sys, time
picture = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
wait = float(sys.argv[1])
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
for step in range(1, 121):
    began = time.monotonic()
    time.sleep(wait)
    waited = time.monotonic() - began
    time.sleep(0.004)
    now = time.monotonic_ns()
    os.write(pipe, f"phase input {waited} t={now}\\nstep {step} t={now} loss={2 / step:.4f}\\n".encode())
    if step % 40 == 0:
        os.write(pipe, f"begin evaluation t={now}\\n".encode()); time.sleep(0.4)
        with open(f"seen-{step:03}.png", "wb") as file: file.write(picture)
        os.write(pipe, f"end evaluation t={time.monotonic_ns()}\\nstep {step} set=test accuracy={step / 130:.3f}\\nmark half\\n".encode())
    print(f"line {step} of the job", flush=True)
"""

# Texts of others are texts, whatever they say. It ends with its standard input.
HOSTILE_JOB = """
import os, sys, time
text = sys.argv[1]
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
with open(text, "w") as file: file.write(text)
for step in range(1, 21):
    time.sleep(0.05)
    os.write(pipe, f"step {step} loss={1 / step:.4f}\\n".encode())
os.write(pipe, f"mark {text}\\n".encode())
print(text, flush=True)
sys.stdin.read()
"""

PRINTING_JOB = """
import time
for step in range(1, 61):
    time.sleep(0.02)
    print(f"step {step} loss {1 / step:.4f}", flush=True)
"""


def node():
    """The node that scripts/build-web installed, or why there is none."""
    if not shutil.which("chromium"):
        raise unittest.SkipTest("chromium is not installed; run scripts/install-deps test")
    done = subprocess.run([ROOT / "scripts/build-web", "--node"], capture_output=True, text=True)
    if done.returncode == 77:
        raise unittest.SkipTest(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Pages(Case):
    def serve(self):
        process = subprocess.Popen([BIN, "view", "--port", "0"], env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(end, process)
        return process.stdout.readline().strip()

    def record_all(self):
        for name, wait, rate in (("slow", 0.016, "0.1"), ("fast", 0.001, "0.2")):
            folder = self.path(name)
            os.mkdir(folder)
            self.record(python(JOB, wait), "--name", name, "--tag", f"lr={rate}", "--keep", "*.png", cwd=folder)
        self.record(python(PRINTING_JOB), "--name", "printed")
        self.record(["true"], "--name", HOSTILE, "--tag", "<b>k=</script><script>alert(2)</script>")
        self.record(["true"], "--name", "again", "--repeat", "2")
        self.record_hostile()
        # More samples than points that the page asks for, however few of them a busy machine takes in a second.
        job = self.start(["cat"], "--name", "without steps", "--every", "1ms", stdin=subprocess.PIPE)
        self.wait_for_samples(600)
        job.stdin.close()
        self.assertEqual(job.wait(), 0)

    def record_hostile(self):
        folder, number = self.path("hostile"), self.path("number")
        os.mkdir(folder)
        pathlib.Path(number).write_text("42\n")
        job = self.start(python(HOSTILE_JOB, HOSTILE), "--name", "hostile", "--every", "20ms", "--keep", "*",
                         "--counter", f"{HOSTILE}:int@{number}", stdin=subprocess.PIPE, cwd=folder)
        self.wait_for_samples(60, f"counter.{HOSTILE}")
        job.stdin.close()
        self.assertEqual(job.wait(), 0)

    def test_pages(self):
        program = node()
        self.record_all()
        runs = json.loads(self.trainscope("list", "--json").stdout)["runs"]
        report = self.path("report.html")
        self.trainscope("report", "slow", "fast", "-o", report)
        hostile_report = self.path("hostile-report.html")
        self.trainscope("report", "slow", "hostile", "-o", hostile_report)
        environment = self.environment(TRAINSCOPE_BIN=BIN, PAGE_ADDRESS=self.serve(), PAGE_REPORT=report,
                                       PAGE_HOSTILE_REPORT=hostile_report,
                                       PAGE_DIST=os.environ.get("PAGE_DIST", ""), PAGE_FOLDER=self.folder,
                                       PAGE_RUNS=json.dumps({run["name"]: run["id"] for run in runs}), PAGE_HOSTILE=HOSTILE)
        code, output, errors = self.run_node([program, "--test", "--test-reporter=spec", "--test-concurrency=2", f"--test-timeout={HANGS_MS}",
                                              *sorted(HERE.glob(os.environ.get("PAGE_TESTS", "*.test.mjs")))], environment)
        print(output)
        for name, reason in re.findall(r"^\s*﹣ (.*?) \([\d.]+ms\) # (.*)$", output, re.MULTILINE):
            print(f"SKIPPED {name}: {reason}")
        # Last, for whoever reads only the end: which of them failed.
        failed = "\n".join(dict.fromkeys(line.strip() for line in output.splitlines() if FAILED.match(line)))
        self.assertIsNotNone(code, f"node was not done in time\n{failed}")
        self.assertEqual(code, 0, f"{errors[-2000:]}\n{failed}")

    def run_node(self, words, environment):
        """Exit status (None: it was not done in time), stdout and stderr."""
        process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        self.addCleanup(end, process)
        try:
            output, errors = process.communicate(timeout=UNTIL - time.monotonic())
            return process.returncode, output, errors
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            kill_all_of(self.home)  # Browsers and recorders have groups of their own, and hold the pipes.
            return None, *process.communicate()


if __name__ == "__main__":
    main()
