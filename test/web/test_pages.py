"""The pages in a real browser, on runs recorded here: what a person sees, does with mouse and keys, and downloads.

*.test.mjs have the tests; this file records the runs, starts `trainscope view` and reports what node says.
"""
# ctest-timeout: 1200
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from trainscope_test import BIN, Case, end, main, python

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOSTILE = "<img src=x onerror=alert(1)>\"&'"

# Reports steps with phases, losses, evaluations and lines of output, and makes a picture now and then; 3 s with the longer wait.
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
        os.write(pipe, f"begin evaluation t={now}\\n".encode()); time.sleep(0.15)
        with open(f"seen-{step:03}.png", "wb") as file: file.write(picture)
        os.write(pipe, f"end evaluation t={time.monotonic_ns()}\\nstep {step} set=test accuracy={step / 130:.3f}\\nmark half\\n".encode())
    print(f"line {step} of the job", flush=True)
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
        # More samples than points that the page asks for, however few of them a busy machine takes in a second.
        job = self.start(["cat"], "--name", "without steps", "--every", "1ms", stdin=subprocess.PIPE)
        self.wait_for_samples(600)
        job.stdin.close()
        self.assertEqual(job.wait(), 0)

    def test_pages(self):
        program = node()
        self.record_all()
        runs = json.loads(self.trainscope("list", "--json").stdout)["runs"]
        report = self.path("report.html")
        has_report = self.trainscope("report", "slow", "fast", "-o", report, check=False).returncode == 0
        environment = self.environment(TRAINSCOPE_BIN=BIN, PAGE_ADDRESS=self.serve(), PAGE_REPORT=report if has_report else "",
                                       PAGE_DIST=os.environ.get("PAGE_DIST", ""), PAGE_FOLDER=self.folder,
                                       PAGE_RUNS=json.dumps({run["name"]: run["id"] for run in runs}), PAGE_HOSTILE=HOSTILE)
        words = [program, "--test", "--test-reporter=spec", "--test-concurrency=2", *sorted(HERE.glob("*.test.mjs"))]
        try:
            done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1100)
        except subprocess.TimeoutExpired as late:
            self.fail(f"not done after {late.timeout} s:\n{(late.stdout or b'').decode()}")
        print(done.stdout)
        for name, reason in re.findall(r"^\s*﹣ (.*?) \([\d.]+ms\) # (.*)$", done.stdout, re.MULTILINE):
            print(f"SKIPPED {name}: {reason}")
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])


if __name__ == "__main__":
    main()
