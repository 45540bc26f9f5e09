"""Samples come when they are due; what was missed is counted; limits, series and phases are what was asked for."""
import json
import os
import signal
import subprocess
import time

from trainscope_test import Case, main, process_state, total, wait_until


def ticks_in_time(period_s, is_over):
    """How many ticks a program that only waits for them begins in time, and how many came due, by the recorder's rule."""
    zero, next_tick, in_time = time.monotonic(), 1, 0
    while not is_over():
        time.sleep(max(0, zero + next_tick * period_s - time.monotonic()))
        since_zero = time.monotonic() - zero
        latest = int(since_zero / period_s)
        if latest >= next_tick:
            in_time += since_zero - latest * period_s <= period_s / 2
            next_tick = latest + 1
    return in_time, next_tick - 1


class Schedule(Case):
    def test_every_tick_is_a_sample_or_missed(self):
        for every, job in (("20ms", "1.5"), ("100ms", "1.25"), ("1s", "1.3"), ("1h", "0.2")):
            with self.subTest(every=every):
                self.record(["sleep", job], "--every", every)
                info = self.assert_ticks_add_up()
                self.assertGreaterEqual(info["run"]["duration_s"], float(job))
                times = [t for t, _ in self.series("job.cpu.time", "mode=user")]
                self.assertGreaterEqual(info["sampling"]["period_s"] / 2, times[0] if times else 0)

    def test_a_thousand_samples_a_second(self):
        # How many ticks a busy machine leaves to a program is luck, but to any program. A recorder that is slow itself
        # takes fewer than a program that only waits for the same ticks, each time.
        for attempt in range(20):
            process = self.start(["sleep", "2"], "--every", "1ms")
            in_time, due = ticks_in_time(0.001, lambda: process.poll() is not None)
            self.assertEqual(process.returncode, 0)
            info = self.assert_ticks_add_up()
            sampling = info["sampling"]
            self.assertEqual(sampling["period_s"], 0.001)
            self.assertGreaterEqual(sampling["samples"] + sampling["missed"], 2001)
            taken, possible = sampling["samples"] / (sampling["samples"] + sampling["missed"]), in_time / due
            if taken >= 0.6 * possible:
                break
        print(f"\n      {taken:.1%} of the ticks, {possible:.1%} were possible (attempt {attempt + 1})")
        self.assertGreaterEqual(taken, 0.6 * possible)
        # All that it read and wrote took less than the time of the ticks that it took.
        self.assertLess(info["overhead"]["cpu_s"], 0.001 * sampling["samples"] + 0.5)

    def test_the_first_sample_is_before_the_jobs_first_instruction(self):
        done = self.record("import time; print(time.monotonic_ns())")
        with open(os.path.join(self.info()["run"]["path"], "manifest.json")) as file:
            zero = json.load(file)["zero_monotonic_ns"]
        self.assertLessEqual(zero, int(done.stdout))
        first = self.series("job.cpu.time", "mode=user")[0]
        self.assertEqual(first[1], 0)
        # A busy machine may cause gaps, but none that begins the run.
        for gap in self.info()["sampling"]["gaps"]:
            self.assertGreater(gap["from_s"], 0)
            self.assertIn("too busy", gap["reason"])

    def test_what_was_written_includes_the_last_block(self):
        self.record(["true"])
        info = self.info()
        on_disk = sum(entry.stat().st_size for entry in os.scandir(info["run"]["path"]) if entry.name.endswith(".seg"))
        self.assertGreaterEqual(info["overhead"]["bytes_written"], on_disk)

    def test_the_file_system_of_the_run_is_told(self):
        if "/" not in [line.split()[4] for line in open("/proc/self/mountinfo")]:
            self.skipTest("in a chroot that is no mount the table does not tell")
        # The inventory takes its time beside the job, which waits for it.
        process = self.start("import sys; sys.stdin.readline()", stdin=subprocess.PIPE)
        def told():
            done = self.trainscope("info", "latest", "--json", check=False)
            host = json.loads(done.stdout)["host"] if done.returncode == 0 else {}
            return (host.get("filesystems") or {}).get("run_folder")
        wait_until(told)
        process.communicate(input=b"end\n", timeout=60)
        self.assertIsNotNone(self.info()["host"]["filesystems"]["run_folder"])

    def test_a_stop_of_known_length_is_a_gap_of_that_length(self):
        process = self.start("import sys; sys.stdin.readline()", "--every", "20ms", stdin=subprocess.PIPE)
        recorder = self.recorder()
        wait_until(lambda: self.has_samples())
        before = time.monotonic()
        os.kill(recorder, signal.SIGSTOP)
        wait_until(lambda: process_state(recorder) == "T")
        stopped = time.monotonic()
        time.sleep(1.5)
        going = time.monotonic()
        os.kill(recorder, signal.SIGCONT)
        wait_until(lambda: self.has_samples(after_s=going - self.zero_s()))
        again = time.monotonic()
        process.communicate(input=b"end\n", timeout=60)
        self.assertEqual(process.returncode, 0)
        info = self.assert_ticks_add_up()
        gap = max(info["sampling"]["gaps"], key=lambda g: g["to_s"] - g["from_s"])
        # It cannot be shorter than the stop; longer only by what the machine took to let it go on.
        self.assert_between(going - stopped - 0.03, gap["to_s"] - gap["from_s"], again - before, "gap")
        self.assertIn("stopped", gap["reason"])

    def zero_s(self):
        with open(os.path.join(self.info()["run"]["path"], "manifest.json")) as file:
            return json.load(file)["zero_monotonic_ns"] / 1e9

    def has_samples(self, after_s=-1):
        done = self.trainscope("sql", "latest", f"select count(*) from samples where time_s > {after_s}", check=False)
        return done.returncode == 0 and int(done.stdout.split()[-1]) > 0

    def test_clocks_that_began_elsewhere_change_nothing(self):
        # A container's clocks since boot may be any number, also one from before the machine's own start.
        for offset in ("864000000", "-3"):
            words = ["unshare", "--fork", "--time", "--monotonic", offset, "--boottime", offset, *self.run_words(["sleep", "0.5"])]
            done = subprocess.run(words, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)
            if "unshare: " in done.stderr or "unrecognized" in done.stderr:
                self.skipTest("no time namespace here: " + done.stderr)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            info = self.assert_ticks_add_up()
            self.assert_between(0.5, info["run"]["duration_s"], 60, "duration")
            told = self.trainscope("sql", "latest", "select kind, text from events where kind in ('clock', 'suspend')").stdout
            self.assertEqual(told.split(), [b"kind,text"])

    def test_a_limit_ends_the_job(self):
        began = time.monotonic()
        done = self.record(["sleep", "60"], "--for", "1s", check=False)
        self.assertEqual(done.returncode, 124)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["job"]["ended_by"], "time_limit")
        self.assert_between(1, info["run"]["duration_s"], time.monotonic() - began, "duration")

    def test_a_limit_kills_the_whole_tree_of_a_job_that_does_not_listen(self):
        job = f"""
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0: os.setsid()
open({self.path("pid")!r} + str(os.getpid()), "w")
time.sleep(60)
"""
        for limit in ("2s", "8s", "32s"):  # on a busy machine both have not begun before the first
            done = self.record(job, "--for", limit, "--grace", "300ms", check=False)
            self.assertEqual(done.returncode, 124)
            pids = [int(name[3:]) for name in os.listdir(self.folder) if name.startswith("pid")]
            for pid in pids:
                os.unlink(self.path(f"pid{pid}"))
            if len(pids) == 2:
                break
        self.assertEqual(len(pids), 2)
        wait_until(lambda: all(process_state(pid) in ("", "Z", "X") for pid in pids))

    def test_a_job_that_obeys_the_limit_in_its_own_way_is_still_124(self):
        begun = self.path("begun")
        job = f"trap 'echo bye; exit 3' TERM; : > {begun}; while :; do sleep 0.05; done"
        for limit in ("1500ms", "6s", "24s"):  # on a busy machine it has not begun before the first
            done = self.record(["sh", "-c", job], "--for", limit, check=False)
            if os.path.exists(begun):
                break
        self.assertEqual((done.returncode, done.stdout), (124, b"bye\n"))

    def test_a_series_is_a_run_each(self):
        done = self.record(["sh", "-c", f"echo x >> {self.path('count')}; exit $(($(wc -l < {self.path('count')}) - 1))"],
                           "--repeat", "3", "--name", "series", check=False)
        self.assertEqual(done.returncode, 1)  # the first that is not 0
        runs = json.loads(self.trainscope("list", "--json").stdout)["runs"]
        self.assertEqual(sorted(r["exit_code"] for r in runs), [0, 1, 2])
        self.assertEqual(len({r["id"] for r in runs}), 3)
        for run in runs:
            self.assert_ticks_add_up(run["id"])

    def test_what_comes_after_is_a_phase_of_its_own(self):
        done = self.record(["sh", "-c", "sleep 0.3; exit 5"], "--after", "sleep 0.4; exit 6", check=False)
        self.assertEqual(done.returncode, 5)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["job"]["exit_code"], 5)
        phases = {p["name"]: p for p in info["phases"]}
        self.assertEqual(list(phases), ["job", "after"])
        self.assertGreaterEqual(phases["job"]["to_s"], 0.3)
        self.assertGreaterEqual(phases["after"]["to_s"] - phases["after"]["from_s"], 0.4)
        with open(os.path.join(info["run"]["path"], "manifest.json")) as file:
            self.assertEqual(json.load(file)["after_exit_code"], 6)

    def test_what_the_phase_after_used_is_counted(self):
        burn = "python3 -S -c 'import time\nwhile time.process_time() < 0.3: pass'"
        self.record(["sh", "-c", burn], "--after", burn, "--every", "20ms")
        # Twice 0.3 s and the start of two interpreters and a shell.
        self.assert_between(0.6, total(self.info(), "job.cpu.time"), 1.2, "job.cpu.time")


if __name__ == "__main__":
    main()
