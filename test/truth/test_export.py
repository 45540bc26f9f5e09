"""Exported steps, rates and followed runs, checked by Python's own csv and json against what the job did and what is stored."""
import csv
import io
import json
import os
import pathlib
import pty
import select
import signal
import subprocess

from trainscope_test import BIN, Case, end, main, processes, python

STEPS = 23
# Two epochs whose numbers begin anew; a learning rate with every second step, an evaluation once.
TRAINING = f"""
import os
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
for step in range(1, {STEPS} + 1):
    number = step if step <= 12 else step - 12
    line = f"step {{number}} epoch={{1 + (step > 12)}} of=12 loss={{1 / step!r}}"
    if step % 2 == 0:
        line += f" lr={{step / 1000!r}}"
    if step == 12:
        line += " val_loss=7.5"
    os.write(pipe, (line + "\\n").encode())
"""
# A counter that grows by known amounts, restarts once, and is told to end.
COUNTING = """
import os, select, sys
path, value, i = sys.argv[1], 0, 0
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
while not select.select([sys.stdin], [], [], 0.03)[0]:
    value = 3 if i == 20 else value + 7 * i
    with open(path + ".new", "w") as file: file.write(f"{value}\\n")
    os.rename(path + ".new", path)
    i += 1
    os.write(pipe, f"step {i} loss={1 / i!r} lr={i * 0.5}\\n".encode())
"""
# A step every 20 ms that waits for data for 5 ms of it, by the job's own timestamps; a checkpoint after every 25th step.
PHASES = """
import os, select, sys, time
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
now, i = time.monotonic_ns(), 0
def send(line, ms):
    global now
    now += ms * 1_000_000
    time.sleep(max(0, (now - time.monotonic_ns()) / 1e9))
    os.write(pipe, f"{line} t={now}\\n".encode())
while not select.select([sys.stdin], [], [], 0)[0]:
    i += 1
    send("begin input", 0)
    send("end input", 5)
    send(f"step {i} loss={1 / i!r} lr={i * 0.5}", 15)
    if i % 25 == 0:
        send("begin checkpoint", 0)
        send("end checkpoint", 100)
"""


def table(text):
    """The rows of RFC 4180 text, as dicts."""
    if isinstance(text, bytes):
        text = text.decode()
    assert "\n" not in text.replace("\r\n", ""), "a line does not end with CR LF"
    return list(csv.DictReader(io.StringIO(text, newline="")))


def lines(text):
    return [json.loads(line) for line in text.decode().splitlines()]


def next_line(process):
    """Of its stdout, and no byte more: communicate() does not see what a buffered reader holds."""
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(process.stdout.fileno(), 1)
        assert more, f"it ended after {line}"
        line += more
    return line


class Export(Case):
    def export(self, *options, to="csv", **keywords):
        return self.trainscope("export", "latest", "--to", to, *options, **keywords).stdout

    def counting(self, *options):
        """A job that counts until it is told to end by its stdin."""
        path = self.path("count")
        pathlib.Path(path).write_text("0\n")
        return self.start(python(COUNTING, path), "--every", "50ms", "--counter", f"n:uint@{path}+unit=By;rate", *options,
                          stdin=subprocess.PIPE)

    def follow(self, *words, **keywords):
        keywords = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **keywords}
        process = subprocess.Popen([BIN, *words], env=self.environment(), **keywords)
        self.addCleanup(end, process)
        return process

    # ---- steps

    def test_every_step_is_a_row_with_its_numbers(self):
        self.record(TRAINING)
        rows = table(self.export("--steps"))
        self.assertEqual([int(row["step"]) for row in rows], list(range(1, STEPS + 1)))
        self.assertEqual([int(row["reported_step"]) for row in rows], [*range(1, 13), *range(1, 12)])
        self.assertEqual([float(row["epoch"]) for row in rows], [1] * 12 + [2] * 11)
        self.assertEqual([float(row["loss"]) for row in rows], [1 / step for step in range(1, STEPS + 1)])
        for step, row in enumerate(rows, 1):
            self.assertEqual(row["lr"], repr(step / 1000) if step % 2 == 0 else "", row)
            self.assertEqual(row["val_loss"], "7.5" if step == 12 else "", row)
            self.assertEqual(row["accuracy"], "", "never reported")
        times = [float(row["time_s"]) for row in rows]
        self.assertEqual(times, sorted(times))
        header, *objects = lines(self.export("--steps", to="jsonl"))
        self.assertEqual((header["schema"], header["rows"]), ("trainscope.export/1", "steps"))
        self.assertEqual((header["steps"]["count"], header["steps"]["observed"]), (STEPS, STEPS))
        self.assertEqual(len(objects), STEPS)
        for row, each in zip(rows, objects):
            for name, text in row.items():
                value = each.get(name)
                self.assertEqual(text, "" if value is None else text, row)
                self.assertEqual(value is None, text == "", (name, row, each))
                if name != "kind" and value is not None:
                    self.assertEqual(float(text), value, name)
        # The same as SQL says, and a file has the same bytes as stdout.
        query = "select step, time_s, loss from steps order by time_s, step"
        told = self.trainscope("sql", "latest", query).stdout.decode().splitlines()[1:]
        self.assertEqual(len(told), STEPS)
        path = self.path("steps.csv")
        self.trainscope("export", "latest", "--steps", "-o", path)
        self.assertEqual(pathlib.Path(path).read_bytes(), self.export("--steps"))

    def test_steps_of_a_part_of_the_run(self):
        self.record("""
import os, time
for step in range(1, 6):
    with open(os.environ["TRAINSCOPE_PIPE"], "w") as pipe: pipe.write(f"step {step} t={time.monotonic_ns()}\\n")
    time.sleep(0.05)
""")
        rows = table(self.export("--steps"))
        middle = float(rows[2]["time_s"])
        begun = table(self.export("--steps", "--begin", f"{int(middle * 1e6)}us"))
        ended = table(self.export("--steps", "--end", f"{int(middle * 1e6)}us"))
        self.assertEqual(len(begun) + len(ended), len(rows))
        self.assertTrue(all(float(row["time_s"]) <= middle for row in ended))
        self.assertTrue(all(float(row["time_s"]) >= middle - 1e-6 for row in begun))

    def test_a_run_without_steps_says_so(self):
        self.record(["true"])
        done = self.trainscope("export", "latest", "--to", "csv", "--steps")
        self.assertEqual(table(done.stdout), [])
        self.assertIn("steps", done.stderr.decode())
        for option in (("--metric", "x"), ("--every", "1s"), ("--rates",), ("--wide",)):
            done = self.trainscope("export", "latest", "--to", "csv", "--steps", *option, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(option[0], done.stderr.decode())

    # ---- rates

    def check_rates(self, counters, rates, period_s):
        """Every rate is the increase since the sample before; returns how many samples have none besides the first."""
        absent = 0
        for key, samples in counters.items():
            told = dict(rates.get(key, []))
            for (before_s, before), (time_s, value) in zip(samples, samples[1:]):
                if value < before or time_s - before_s > 3.5 * period_s[key]:
                    self.assertNotIn(time_s, told, key)
                    absent += 1
                    continue
                increase = told.pop(time_s) * (time_s - before_s)
                self.assertAlmostEqual(increase, value - before, delta=1e-9 * max(1, value), msg=str((key, time_s)))
            self.assertEqual(told, {}, f"rates of {key} where there are none")
        return absent

    def test_rates_are_the_increases_of_the_stored_counters(self):
        job = self.counting()
        self.wait_for_samples(60, "counter.n")
        job.communicate(b"end")
        header, *raw = lines(self.export(to="jsonl"))
        kinds = {(s["metric"], json.dumps(s["labels"])): s for s in header["series"]}
        header, *rated = lines(self.export("--rates", to="jsonl"))
        units = {(s["metric"], json.dumps(s["labels"])): s for s in header["series"]}
        series, rates = {}, {}
        for rows, found in ((raw, series), (rated, rates)):
            for row in rows:
                found.setdefault((row["metric"], json.dumps(row["labels"])), []).append((row["time_s"], row["value"]))
        counters = {}
        for key, samples in series.items():
            if kinds[key]["kind"] == "counter" and not kinds[key]["derived"] and not key[0].startswith("train."):
                counters[key] = samples
                unit = kinds[key]["unit"]
                self.assertEqual((units[key]["kind"], units[key]["unit"]), ("gauge", "1" if unit == "s" else unit + "/s"))
            elif kinds[key]["kind"] != "counter" or kinds[key]["derived"]:
                self.assertEqual(rates[key], samples, f"{key} is no counter and has changed")
        self.assertIn(("counter.n", "{}"), counters)
        self.assertGreater(len(counters), 10)
        # A series is sampled at every tick, or once per second, or at the pace of its own thread.
        period_s = {key: 0.05 if len(samples) > 40 else 1.0 for key, samples in counters.items()}
        absent = self.check_rates(counters, rates, period_s)
        self.assertGreaterEqual(absent, 1, "the counter went back once")
        # The restart apart, they add up to the increase.
        own, total = counters[("counter.n", "{}")], 0
        told = dict(rates[("counter.n", "{}")])
        lost = sum(b - a for (s, a), (t, b) in zip(own, own[1:]) if t not in told)
        for (before_s, _), (time_s, _) in zip(own, own[1:]):
            total += round(told.get(time_s, 0) * (time_s - before_s))
        self.assertEqual(total, own[-1][1] - own[0][1] - lost)
        self.assertTrue(all(value >= 0 for value in told.values()))
        # Long and wide CSV have the same numbers.
        long = [row for row in table(self.export("--rates", "--metric", "counter.n"))]
        self.assertEqual([(float(r["time_s"]), float(r["value"])) for r in long], rates[("counter.n", "{}")])
        wide = table(self.export("--rates", "--wide", "--metric", "counter.n"))
        self.assertEqual([float(r["counter.n"]) for r in wide if r["counter.n"]], [float(r["value"]) for r in long])
        for row in table(self.export("--rates", "--metric", "counter.n", "--every", "1s")):
            begin = float(row["time_s"])
            parts = [(t - s, told[t]) for (s, _), (t, _) in zip(own, own[1:]) if t in told and begin <= t < begin + 1]
            self.assertAlmostEqual(float(row["value"]), sum(d * r for d, r in parts) / sum(d for d, _ in parts), places=6)

    # ---- following

    def rows_of(self, text):
        """Everything but headers, which say when they were written."""
        return sorted(line for line in text.decode().splitlines() if '"schema"' not in line)

    def assert_followed(self, options):
        job = self.counting()
        self.wait_for_samples(10, "counter.n")
        followed = self.follow("export", "latest", "--to", "jsonl", "--follow", *options)
        # Rows that did not exist when it began.
        seen = b""
        while seen.count(b"\n") < 60 or b'"time_s":4.' not in seen:
            self.assertIsNone(followed.poll(), "it ended before the run")
            seen += os.read(followed.stdout.fileno(), 65536)
        job.communicate(b"end")
        rest, messages = followed.communicate(timeout=60)
        self.assertEqual((followed.returncode, messages), (0, b""))
        whole = self.export(*options, to="jsonl")
        self.assertEqual(self.rows_of(seen + rest), self.rows_of(whole))

    def test_a_followed_run_has_the_rows_of_the_export(self):
        self.assert_followed([])

    def test_followed_rates_in_buckets_are_those_of_the_export(self):
        self.assert_followed(["--rates", "--every", "200ms", "--metric", "counter.*", "--metric", "system.cpu.*"])

    def test_followed_steps_are_those_of_the_export(self):
        self.assert_followed(["--steps"])

    def test_followed_steps_have_the_waits_and_lack_the_checkpoints_as_exported_ones(self):
        job = self.start(python(PHASES), "--every", "50ms", stdin=subprocess.PIPE)
        self.wait_for_samples(5)
        followed = self.follow("export", "latest", "--to", "jsonl", "--follow", "--steps")
        seen = b""
        while b'"step":150,' not in seen:
            self.assertIsNone(followed.poll(), "it ended before the run")
            seen += os.read(followed.stdout.fileno(), 65536)
        job.communicate(b"end")
        rest, messages = followed.communicate(timeout=60)
        self.assertEqual((followed.returncode, messages), (0, b""))
        whole = self.export("--steps", to="jsonl")
        written = [line for line in (seen + rest).splitlines() if b'"schema"' not in line]
        self.assertEqual(written, [line for line in whole.splitlines() if b'"schema"' not in line], "also in their order")
        steps = lines(b"\n".join(written))
        self.assertEqual([each["step"] for each in steps], list(range(1, len(steps) + 1)))
        for each in steps:
            self.assertAlmostEqual(each["input_wait_s"], 0.005, places=6, msg=str(each))
            self.assertAlmostEqual(each["duration_s"], 0.02, places=6, msg=str(each))

    def test_following_a_run_that_has_ended(self):
        self.record(TRAINING)
        for options in ([], ["--steps"], ["--rates"]):
            done = self.trainscope("export", "latest", "--to", "jsonl", "--follow", *options)
            self.assertEqual(done.stderr, b"")
            self.assertEqual(self.rows_of(done.stdout), self.rows_of(self.export(*options, to="jsonl")))
        path = self.path("rows.jsonl")
        self.trainscope("export", "latest", "--follow", "-o", path)
        self.assertEqual(self.rows_of(pathlib.Path(path).read_bytes()), self.rows_of(self.export(to="jsonl")))
        done = self.trainscope("export", "latest", "--follow", "-o", path, check=False)
        self.assertEqual(done.returncode, 2)
        done = self.trainscope("export", "latest", "-o", self.path("x.parquet"), check=False)
        self.assertIn(b"cannot infer the format from", done.stderr)
        done = self.trainscope("export", "latest", "--to", "csv", "--follow", check=False)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn("jsonl", done.stderr.decode())

    def test_who_stops_reading_or_interrupts_ends_it(self):
        job = self.counting()
        self.wait_for_samples(5, "counter.n")
        for words in (["export", "latest", "--to", "jsonl", "--follow", "--end", "1000h"],
                      ["export", "latest", "--to", "jsonl", "--follow", "--metric", "system.memory.limit*", "--metric", "counter.n"],
                      ["info", "latest", "--json", "--follow"]):
            followed = self.follow(*words)
            followed.stdout.readline()
            followed.stdout.close()
            self.assertEqual(followed.wait(timeout=60), -signal.SIGPIPE, words)
            self.assertEqual(followed.stderr.read(), b"")
            followed = self.follow(*words)
            followed.stdout.readline()
            followed.send_signal(signal.SIGINT)
            self.assertEqual(followed.wait(timeout=60), -signal.SIGINT, words)
        job.communicate(b"end")

    def test_a_recorder_that_is_gone_ends_it(self):
        job = self.counting()
        self.wait_for_samples(5, "counter.n")
        followed = [self.follow("export", "latest", "--to", "jsonl", "--follow"),
                    self.follow("info", "latest", "--json", "--follow")]
        for each in followed:
            each.first = next_line(each)
        recorder = self.recorder()
        job.kill()
        job.wait()
        for pid in [recorder, *processes("trainscope-rec", self.home)]:
            os.kill(pid, signal.SIGKILL)
        job.stdin.close()
        for each in followed:
            rest, messages = each.communicate(timeout=60)
            self.assertEqual(each.returncode, 0, messages)
            self.assertIn("recorder of this run is gone", messages.decode())
            each.text = each.first + rest
        self.assertEqual(self.rows_of(followed[0].text), self.rows_of(self.export(to="jsonl")))
        self.assertIsNone(lines(followed[1].text)[-1]["run"]["ended"])

    def test_info_follows_in_json_and_on_a_terminal(self):
        job = self.counting()
        self.wait_for_samples(5, "counter.n")
        refused = self.trainscope("info", "latest", "--follow", check=False)
        self.assertEqual((refused.returncode, refused.stdout), (2, b""))
        self.assertIn("--json", refused.stderr.decode())
        documents = self.follow("info", "latest", "--json", "--follow")
        first = [next_line(documents) for _ in range(3)]
        master, terminal = pty.openpty()
        self.addCleanup(os.close, master)
        shown = self.follow("info", "latest", "--follow", stdout=terminal)
        os.close(terminal)
        seen = b""
        while seen.count(b"\x1b[2J") < 3:
            seen += os.read(master, 65536)
        job.communicate(b"end")
        rest, _ = documents.communicate(timeout=60)
        while select.select([master], [], [], 60)[0]:
            try:
                seen += os.read(master, 65536)
            except OSError:  # the other end was closed
                break
        self.assertEqual((documents.returncode, shown.wait(timeout=60)), (0, 0))
        told = [json.loads(line) for line in [*first, *rest.splitlines()]]
        self.assertEqual({each["schema"] for each in told}, {"trainscope.info/1"})
        durations = [each["run"]["duration_s"] for each in told]
        self.assertEqual(durations, sorted(durations))
        self.assertIsNone(told[0]["run"]["ended"])
        counts = [each["steps"]["count"] or 0 for each in told]
        self.assertEqual(counts, sorted(counts))
        self.assertGreater(counts[-2], counts[0])
        for each in told:
            self.assertEqual(each["steps"]["count"], each["steps"]["observed"])
        self.assertEqual(told[-1], self.info())
        last = seen.rpartition(b"\x1b[2J")[2].decode()
        self.assertNotIn("recorded so far", last)

    # ---- damaged runs

    def test_damaged_runs_do_no_harm(self):
        self.record(TRAINING)
        folder = next(pathlib.Path(self.home).iterdir())
        segment = folder / "samples-0001.seg"
        whole = segment.read_bytes()
        middle = len(whole) // 2
        for name, damaged in (("cut", whole[:middle]), ("zeros", whole[:middle] + bytes(1000) + whole[middle + 1000:]),
                              ("half", whole[:40]), ("none", b""), ("foreign", b"x" * 100)):
            segment.write_bytes(damaged)
            for options in (["--steps"], ["--rates"], ["--rates", "--every", "1s"], ["--follow"], ["--steps", "--follow"]):
                with self.subTest(name, options=options):
                    done = self.trainscope("export", str(folder), "--to", "jsonl", *options, check=False)
                    self.assertIn(done.returncode, (0, 2), done.stderr)
                    self.assertNotIn("internal error", done.stderr.decode())
                    for line in done.stdout.splitlines():
                        json.loads(line)


if __name__ == "__main__":
    main()
