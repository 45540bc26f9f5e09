"""When lines of output were printed: what the pages say, against the job's own clock."""
import json
import os
import pathlib
import signal
import subprocess

from trainscope_test import BIN, PATIENCE_S, Case, end, main, recorders, wait_until
from web_view import View

# Prints lines and reports steps through the pipe. Of each line it knows when it began to print it and when output.log had it:
# it was read in between. Between two lines, one byte on stdin lets it go on.
JOB = """
import json, os, sys, time
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
log = os.path.join(os.path.dirname(os.environ["TRAINSCOPE_PIPE"]), "output.log")
lines, stop, together = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
known = []
def is_kept(text):
    with open(log) as file: return text in file.read()
for line in range(1, lines + 1, together):
    if line == stop: open(sys.argv[1] + ".here", "w").close(); sys.stdin.read(1)
    time.sleep(0.03)
    begun = time.monotonic_ns()
    texts = [f"<{line + i}> of the job" for i in range(together)]
    sys.stdout.write("\\n".join(texts) + "\\n"); sys.stdout.flush()
    os.write(pipe, f"step {line}\\n".encode())
    while not (os.path.exists(log) and is_kept(texts[-1])): time.sleep(0.001)
    known += [[begun, time.monotonic_ns()]] * together
with open(sys.argv[1], "w") as file: json.dump(known, file)
"""


class OutputTimes(Case):
    def start_job(self, lines, stop=0, together=1, stdout=None):
        if stdout is None:  # a pipe that is read: one with sixteen lines in it is full
            reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            self.addCleanup(end, reader)
            stdout = reader.stdin
            self.addCleanup(stdout.close)
        words = [BIN, "run", "--quiet", "--", "python3", "-S", "-c", JOB, self.path("known"), *map(str, (lines, stop, together))]
        process = subprocess.Popen(words, env=self.environment(), stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.DEVNULL)
        self.addCleanup(end, process)
        return process

    def finish(self, process):
        process.communicate(b"x" * 10, timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0)

    def output(self, more=""):
        return View(self).json(f"/api/run/{self.info()['run']['id']}/output?lines=1000{more}")

    def check(self, count):
        """Each line has a time at which it may have been read, and at a time there is the line that was the last one then."""
        info = self.info()
        zero_ns = json.loads(pathlib.Path(info["run"]["path"], "manifest.json").read_text())["zero_monotonic_ns"]
        known = [[(t - zero_ns) / 1e9 for t in each] for each in json.loads(pathlib.Path(self.path("known")).read_text())]
        output = self.output()
        self.assertEqual((output["times"], output["late"], info["steps"]["count"] > 0), ("read", None, True))
        self.assertEqual([line["text"] for line in output["lines"]], [f"<{n}> of the job" for n in range(1, count + 1)])
        times, within = [line["time_s"] for line in output["lines"]], output["within_s"]
        self.assertEqual(within, 0.1)
        self.assertEqual(times, sorted(times))
        for number, (time_s, (begun, kept)) in enumerate(zip(times, known), 1):
            self.assert_between(max(0, begun) - within, time_s, max(0, kept), f"line {number}")
        for number in (1, count // 2, count):
            kept = max(0, known[number - 1][1])
            found = self.output(f"&at={kept}")
            shown = found["first_line"] + found["at"] + 1
            self.assertGreaterEqual(shown, number)
            self.assertLessEqual(known[shown - 1][0], kept + within, "a line that was not there yet")
        return times

    def test_lines_of_a_job_that_reports_its_steps_through_the_pipe(self):
        self.finish(self.start_job(40))
        self.assertGreater(len(set(self.check(40))), 5)

    def test_lines_of_a_followed_file(self):
        with open(self.path("log"), "wb") as file:
            self.finish(self.start_job(40, stdout=file))
        self.assertGreater(len(set(self.check(40))), 5)

    def test_lines_that_are_printed_together(self):
        self.finish(self.start_job(200, together=50))
        self.check(200)

    def test_a_live_run_and_a_recorder_that_is_killed(self):
        process = self.start_job(40, stop=21)
        wait_until(lambda: os.path.exists(self.path("known.here")))
        self.wait_for_samples(1)
        live = self.output()
        self.assertEqual((live["times"], len(live["lines"])), ("read", 20))
        first = recorders(self.home)
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        self.next_recorder(*first)
        self.finish(process)
        times = self.check(40)
        self.assertEqual(times[:20], [line["time_s"] for line in live["lines"]])
        self.assertEqual(self.info()["sampling"]["restarts"], 1)


if __name__ == "__main__":
    main()
