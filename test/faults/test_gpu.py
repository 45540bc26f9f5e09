"""GPUs by a driver library that misbehaves on request: the run goes on, and says what happened.

The library is a fake with known numbers (test/gpu/fake_nvml.cpp); the real one is looked at by bench/gpu.
"""
# ctest-timeout: 600
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from trainscope_test import BIN, Case, end, main, processes, wait_until

FAKE = os.environ.get("FAKE_NVML_FOLDER", "build/release/fake-nvml")
LIBRARY = "libnvidia-ml.so.1"
GPU_PROGRAM = os.path.join(os.path.dirname(BIN), "trainscope-gpu")


def of(info, name, **labels):
    found = [m for m in info["metrics"] if m["name"] == name and labels.items() <= m["labels"].items()]
    return found[0] if found else None


def samples_of(info, gpu, name="hw.gpu.temperature"):
    found = of(info, name, gpu=gpu)
    return found["samples"] if found else 0


@unittest.skipUnless(os.path.exists(os.path.join(FAKE, LIBRARY)), "the fake driver library is not built")
class FakeGpus(Case):
    def setUp(self):
        super().setUp()
        self.driver = self.path("driver")
        os.mkdir(self.driver)
        os.symlink(os.path.abspath(os.path.join(FAKE, LIBRARY)), os.path.join(self.driver, LIBRARY))
        self.control = pathlib.Path(self.driver, "control")
        self.control_driver("")

    def control_driver(self, words):
        new = self.control.with_suffix(".new")
        new.write_text(words)
        new.rename(self.control)

    def environment(self, **more):
        return super().environment(**{"LD_LIBRARY_PATH": self.driver, **more})

    def gpu_processes(self):
        """The helpers that have this test's driver."""
        return processes("trainscope-gpu", self.driver, "LD_LIBRARY_PATH")

    def events(self):
        text = self.trainscope("sql", "latest", "select text from events where kind = 'gpu'").stdout.decode()
        return [line.strip('"') for line in text.splitlines()[1:]]

    def until(self, is_so):
        """A step of a script: until what `info` says of the run that goes on is so."""
        def is_so_now():
            done = self.trainscope("info", "latest", "--json", check=False)
            return done.returncode == 0 and is_so(json.loads(done.stdout))
        return lambda: wait_until(is_so_now)

    def until_read_again(self, gpu):
        """A step of a script: until the GPU has more samples of its temperature than when the step begins."""
        def wait():
            before = self.on_disk("hw.gpu.temperature", gpu=gpu)["samples"]
            self.until(lambda info: samples_of(info, gpu) > before and of(info, "hw.gpu.temperature", gpu=gpu)["status"] == "ok")()
        return wait

    def until_told(self, *words):
        """A step of a script: until an event has all of these words."""
        return lambda: wait_until(lambda: any(all(word in text for word in words) for text in self.events()))

    def while_it_runs(self, *script):
        """Records a job from the first sample of the GPUs on (of a driver that is starting: from the start of its process on)
        to the end of the script, which has words for the driver and functions."""
        process = self.start(["cat"], stdin=subprocess.PIPE)
        wait_until(lambda: self.gpu_processes())
        if "starting" not in self.control.read_text():
            self.wait_for_samples(1, "hw.gpu.temperature")
        for step in script:
            if callable(step):
                step()
            else:
                self.control_driver(step)
        self.asked_to_end = time.time()
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)
        return self.info()

    def test_known_numbers_are_reported_with_their_units(self):
        self.control_driver("process=1:1:77")
        began = time.time()
        info = self.while_it_runs(lambda: self.wait_for_samples(2, "hw.gpu.energy", gpu="0"),
                                  self.until(lambda info: samples_of(info, "0", "hw.gpu.utilization") < samples_of(info, "0")))
        self.assert_energy_is_of_300_watts(of(info, "hw.gpu.energy", gpu="0"), began, time.time())
        for gpu, (degrees, watts) in enumerate([(60, 300), (61, 301), (62, 302)]):
            gpu = str(gpu)
            self.assertEqual(of(info, "hw.gpu.temperature", gpu=gpu)["max"], degrees)
            self.assertAlmostEqual(of(info, "hw.gpu.power", gpu=gpu)["mean"], watts)
            self.assertAlmostEqual(of(info, "hw.gpu.utilization", gpu=gpu)["mean"], 0.40 + int(gpu) / 100)
            self.assertEqual(of(info, "hw.gpu.memory.usage", gpu=gpu)["last"], 10 << 30)
        # The driver measures utilisation every 400 ms, and says so: reading it again is not a sample.
        self.assertLess(of(info, "hw.gpu.utilization", gpu="0")["samples"],
                        of(info, "hw.gpu.temperature", gpu="0")["samples"])
        self.assertEqual(of(info, "hw.gpu.memory.limit", gpu="0")["last"], 80 << 30)
        self.assertEqual(of(info, "hw.gpu.clock", gpu="0", clock="sm")["last"], 1980e6)
        self.assertEqual(of(info, "hw.gpu.throttle", gpu="0", reason="power_cap")["max"], 1)
        self.assertEqual(of(info, "hw.gpu.throttle", gpu="0", reason="hw_thermal")["max"], 0)
        self.assertIn("no GPM", of(info, "hw.gpu.sm_active")["reason"])
        self.assertEqual(of(info, "job.gpu.memory.usage", gpu="1")["max"], 0)
        self.assertIsNotNone(of(info, "recorder.cpu.time", process="gpu")["delta"])

    def names_on_rank_1(self):
        """Of a rank that does not record the machine."""
        env = self.environment(SLURM_JOB_ID="4711", SLURM_STEP_ID="0", SLURM_PROCID="1", SLURM_NTASKS="2", SLURM_LOCALID="1")
        process = self.start(["cat"], stdin=subprocess.PIPE, env=env)
        self.wait_for_samples(2, "job.gpu.memory.usage", gpu="0")
        process.communicate(timeout=120)
        return sorted({m["name"] for m in self.info()["metrics"] if ".gpu." in m["name"]})

    def test_every_rank_records_how_far_its_job_uses_the_gpus(self):
        self.assertEqual(self.names_on_rank_1(), ["job.gpu.memory.usage", "job.gpu.sm_utilization"])

    def test_a_rank_records_the_gpu_that_no_other_may_use(self):
        self.control_driver("count=1")
        self.assertIn("hw.gpu.utilization", self.names_on_rank_1())

    def test_links_and_counters_before_hopper(self):
        def moves(info):
            flows = [m for m in info["metrics"] if m["name"] == "hw.gpu.pcie.io"]
            return len(flows) == 6 and all(m["last"] for m in flows)
        info = self.while_it_runs(lambda: self.wait_for_samples(2, "hw.gpu.nvlink.io", gpu="2", direction="transmit"),
                                  self.until(moves))
        for gpu in "012":
            self.assertEqual(of(info, "hw.gpu.nvlink.io", gpu=gpu, direction="receive")["last"], 5000 << 10)
            self.assertEqual(of(info, "hw.gpu.nvlink.io", gpu=gpu, direction="transmit")["last"], 7000 << 10)
            self.assertEqual(of(info, "hw.gpu.memory.temperature", gpu=gpu)["max"], 70 + int(gpu))
            self.assertEqual(of(info, "hw.gpu.throttle.time", gpu=gpu, reason="power_cap")["last"], 3)
            self.assertEqual(of(info, "hw.gpu.pcie.generation", gpu=gpu)["last"], 4)
            self.assertEqual(of(info, "hw.gpu.pcie.width", gpu=gpu)["last"], 16)
            for direction in ("receive", "transmit"):
                self.assertGreater(of(info, "hw.gpu.pcie.io", gpu=gpu, direction=direction)["last"], 0)

    def test_counters_inside_the_gpu(self):
        self.control_driver("gpm=1")
        info = self.while_it_runs(lambda: self.wait_for_samples(3, "hw.gpu.sm_active", gpu="1"))
        for name, ratio in (("sm_active", 0.75), ("sm_occupancy", 0.5), ("tensor_active", 0.25), ("dram_active", 0.4),
                            ("fp32_active", 0.1)):
            self.assertAlmostEqual(of(info, f"hw.gpu.{name}", gpu="1")["mean"], ratio)
            self.assertIsNone(of(info, f"hw.gpu.{name}", gpu="0"))
        # MiB/s, added up from the same two times for all: known by their ratios.
        sums = {(name, direction): of(info, f"hw.gpu.{name}.io", gpu="1", direction=direction)["last"]
                for name in ("pcie", "nvlink") for direction in ("receive", "transmit")}
        self.assertGreater(sums["pcie", "transmit"], 0)
        for key, factor in ((("pcie", "receive"), 2), (("nvlink", "receive"), 3), (("nvlink", "transmit"), 4)):
            self.assertAlmostEqual(sums[key] / sums["pcie", "transmit"], factor, places=4)
        links = [m for m in info["metrics"] if m["name"] == "hw.gpu.nvlink.io" and m["labels"].get("gpu") == "1"]
        self.assertEqual(len(links), 2, "of the counters alone")

    def assert_energy_is_of_300_watts(self, energy, began, ended):
        """The fake has used 300 W since 1970: a value states when it was read."""
        rows = self.series("hw.gpu.energy", "gpu=0")
        read_at = [value / 300 for _, value in rows]
        self.assertEqual(read_at, sorted(set(read_at)))
        self.assert_between(began - 0.001, read_at[0], ended, "first reading")  # it counts milliseconds
        self.assert_between(read_at[-1], energy["last"] / 300, ended, "last reading")
        self.assertAlmostEqual(energy["delta"], energy["last"] - rows[0][1], places=2)
        # From the first sample to the last value: longer than to the last sample, shorter than all of it.
        self.assert_between(energy["delta"] / (ended - began), energy["rate"], energy["delta"] / (rows[-1][0] - rows[0][0] - 1e-5), "rate")

    def test_the_memory_of_the_job_is_told_from_that_of_others(self):
        process = self.start(["cat"], stdin=subprocess.PIPE)
        job = wait_until(lambda: self.children_named(process.pid, "cat"))[0]
        self.control_driver(f"process=0:{job}:{5 << 30} process=0:1:{3 << 30} process=2:1:{1 << 30}")
        wait_until(lambda: self.last_on_disk("job.gpu.memory.usage", gpu="0") == 5 << 30)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        info = self.info()
        self.assertEqual(of(info, "job.gpu.memory.usage", gpu="0")["last"], 5 << 30)
        self.assertEqual(of(info, "job.gpu.memory.usage", gpu="2")["last"], 0)

    def test_the_helper_dies_before_the_job_when_memory_runs_out(self):
        process = self.start(["cat"], stdin=subprocess.PIPE)
        helper = wait_until(lambda: self.children_named(self.recorder(), "trainscope-gpu"))[0]
        self.assertIn(helper, self.gpu_processes())
        wait_until(lambda: pathlib.Path(f"/proc/{helper}/oom_score_adj").read_text() == "1000\n")
        process.communicate(timeout=60)

    def children_named(self, parent, name):
        out = subprocess.run(["pgrep", "-P", str(parent), "-x", name], capture_output=True, text=True, check=False)
        return [int(pid) for pid in out.stdout.split()]

    def test_a_call_that_hangs_costs_that_gpu_alone(self):
        info = self.while_it_runs("hang=1", self.until_told("GPU 1", "not returned"),
                                  self.until(lambda info: samples_of(info, "0") > 3 * samples_of(info, "1")
                                             and of(info, "hw.gpu.temperature", gpu="1")["status"] == "stale"))
        self.assertEqual(of(info, "hw.gpu.temperature", gpu="1")["status"], "stale")
        good, hung = (of(info, "hw.gpu.temperature", gpu=g)["samples"] for g in "01")
        self.assertGreater(good, 3 * hung)
        self.assertEqual(of(info, "hw.gpu.temperature", gpu="2")["status"], "ok")
        self.assertTrue(any("GPU 1" in text and "not returned" in text for text in self.events()), self.events())
        self.assertEqual(info["sampling"]["restarts"], 0)

    def test_a_gpu_that_is_lost_is_an_event_and_comes_back(self):
        info = self.while_it_runs("lost=2", self.until_told("GPU 2", "lost"), "", self.until_read_again("2"))
        texts = self.events()
        self.assertTrue(any("GPU 2" in text and "lost" in text for text in texts), texts)
        self.assertEqual(of(info, "hw.gpu.temperature", gpu="2")["status"], "ok", "found again")
        self.assertLess(of(info, "hw.gpu.temperature", gpu="2")["samples"],
                        of(info, "hw.gpu.temperature", gpu="0")["samples"])

    def test_a_gpu_that_stays_lost_is_stale(self):
        info = self.while_it_runs("lost=0", self.until(lambda info: of(info, "hw.gpu.power", gpu="0")["status"] == "stale"))
        self.assertEqual(of(info, "hw.gpu.power", gpu="0")["status"], "stale")
        self.assertEqual(of(info, "hw.gpu.power", gpu="1")["status"], "ok")

    def test_errors_in_the_middle_are_absent_values(self):
        info = self.while_it_runs("error=0", self.until(lambda info: samples_of(info, "0") < samples_of(info, "1")), "",
                                  self.until_read_again("0"))
        samples = [of(info, "hw.gpu.temperature", gpu=gpu)["samples"] for gpu in "01"]
        self.assertLess(samples[0], samples[1])
        self.assertEqual(of(info, "hw.gpu.temperature", gpu="0")["status"], "ok")

    def test_the_number_of_gpus_may_change(self):
        info = self.while_it_runs("count=1", self.until(lambda info: samples_of(info, "2") < samples_of(info, "0") - 3), "count=3",
                                  self.until_read_again("2"))
        self.assertEqual(of(info, "hw.gpu.temperature", gpu="2")["status"], "ok")
        self.assertLess(of(info, "hw.gpu.temperature", gpu="2")["samples"],
                        of(info, "hw.gpu.temperature", gpu="0")["samples"])

    def test_a_driver_that_is_reloaded_is_asked_anew(self):
        def unread(info):
            return of(info, "system.cpu.time", cpu="all", state="user")["samples"] - samples_of(info, "0")

        def until_more_are_missing():
            before = unread(self.info())
            self.until(lambda info: unread(info) > before + 3)()
        info = self.while_it_runs("reload", until_more_are_missing, "", self.until_read_again("0"))
        self.assertEqual(of(info, "hw.gpu.temperature", gpu="0")["status"], "ok")

    def test_a_dear_call_is_made_rarely_and_at_the_end(self):
        self.control_driver("dear=0")
        info = self.while_it_runs(self.until(lambda info: samples_of(info, "0", "hw.gpu.energy") < samples_of(info, "1", "hw.gpu.energy")))
        dear, cheap = (of(info, "hw.gpu.energy", gpu=gpu) for gpu in "01")
        self.assertLess(dear["samples"], cheap["samples"])
        # The fake has used 300 W since 1970: a value states when it was read, the last one at the end for both.
        for energy in (dear, cheap):
            self.assert_between(self.asked_to_end - 0.001, energy["last"] / 300, time.time(), "last reading")

    def test_the_driver_process_may_be_killed(self):
        info = self.while_it_runs(lambda: os.kill(self.gpu_processes()[0], signal.SIGKILL), self.until_told("restarting it"),
                                  self.until_read_again("0"))
        self.assertEqual(of(info, "hw.gpu.temperature", gpu="0")["status"], "ok")
        self.assertTrue(any("restarting it" in text for text in self.events()), self.events())
        self.assertEqual(self.gpu_processes(), [])

    def test_a_driver_that_starts_slowly_is_waited_for(self):
        self.control_driver("starting")
        info = self.while_it_runs(lambda: time.sleep(7), "", self.until(lambda info: samples_of(info, "0", "hw.gpu.utilization")))
        self.assertEqual(of(info, "hw.gpu.utilization", gpu="0")["status"], "ok")

    def test_an_xid_is_an_event(self):
        self.while_it_runs("xid=1:79", self.until_told("GPU 1", "Xid 79"))
        self.assertTrue(any("GPU 1" in text and "Xid 79" in text for text in self.events()), self.events())

    def test_attach_loads_nothing_that_the_job_names(self):
        """As root that would be another user's code with root's rights."""
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("this machine has GPUs of its own")
        job = subprocess.Popen(["sleep", "600"], env={**os.environ, "LD_LIBRARY_PATH": self.driver, "CUDA_VISIBLE_DEVICES": "7"})
        self.addCleanup(end, job)
        self.trainscope("attach", str(job.pid), "--quiet", "--for", "3s", env=self.environment(LD_LIBRARY_PATH=""))
        info = self.info()
        self.assertEqual(info["host"]["environment"].get("CUDA_VISIBLE_DEVICES"), "7")  # told, not obeyed
        self.assertEqual(info["host"]["environment"].get("LD_LIBRARY_PATH"), self.driver)
        self.assertEqual([m["labels"] for m in info["metrics"] if m["name"] == "hw.gpu.temperature" and m["labels"]], [])

    def test_a_helper_sees_little(self):
        process = self.start(["sleep", "60"], env=self.environment(LD_PRELOAD="/nonexistent.so", SECRET_TOKEN="x",
                                                                     LD_LIBRARY_PATH=f".::{self.driver}:lib"))
        helper = wait_until(self.gpu_processes)[0]
        found = pathlib.Path(f"/proc/{helper}/environ").read_bytes().split(b"\0")
        self.assertEqual({entry.split(b"=")[0] for entry in found if entry}, {b"PATH", b"LC_ALL", b"LD_LIBRARY_PATH"})
        self.assertEqual(os.readlink(f"/proc/{helper}/cwd"), "/")
        self.assertEqual(os.getpgid(helper), helper)
        end(process)

    def test_nothing_is_left_behind(self):
        self.control_driver("hang=0")
        self.record(["sleep", "1"])
        wait_until(lambda: not self.gpu_processes())


class Program(Case):
    def test_needs_no_glibc_newer_than_2_34(self):
        if not shutil.which("objdump"):
            self.skipTest("objdump is not installed")
        table = subprocess.run(["objdump", "-T", GPU_PROGRAM], capture_output=True, text=True, check=True).stdout
        newest = max(tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", table))
        self.assertLessEqual(newest, (2, 34))

    def test_does_not_stay_where_there_is_no_gpu(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is one")
        job = self.start(["cat"], stdin=subprocess.PIPE, env=self.environment(LD_LIBRARY_PATH=self.folder))
        wait_until(lambda: self.on_disk("hw.gpu.utilization").get("status") == "absent")
        wait_until(lambda: not processes("trainscope-gpu", self.folder, "LD_LIBRARY_PATH"))
        self.assertIsNone(job.poll())
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0)

    def test_started_by_hand_says_what_it_is(self):
        done = subprocess.run([GPU_PROGRAM], capture_output=True, text=True, check=False, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("trainscope doctor", done.stderr)

    def test_doctor_says_why_there_is_no_gpu(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is one")
        answer = json.loads(self.trainscope("doctor", "--json").stdout)
        gpu = [source for source in answer["sources"] if source["name"] == "gpu"][0]
        self.assertEqual(gpu["status"], "unavailable")
        self.assertIn("libnvidia-ml", gpu["reason"])
        self.assertIn("driver", gpu["remedy"])


class OldSystem(Case):
    """The dynamic loader refuses trainscope-gpu; the real program, changed so that this system is too old for it."""

    def gpu_source(self, before, after):
        shutil.copy(BIN, self.path("trainscope"))
        program = pathlib.Path(GPU_PROGRAM).read_bytes()
        self.assertIn(before, program)
        changed = pathlib.Path(self.path("trainscope-gpu"))
        changed.write_bytes(program.replace(before, after))
        changed.chmod(0o755)
        done = self.trainscope("doctor", "--json", program=self.path("trainscope"))
        return next(source for source in json.loads(done.stdout)["sources"] if source["name"] == "gpu")

    def test_an_older_glibc_is_the_reason(self):
        gpu = self.gpu_source(b"GLIBC_2.34", b"GLIBC_9.34")
        self.assertEqual(gpu["status"], "unavailable")
        self.assertEqual(gpu["reason"], "trainscope-gpu needs glibc 2.34 or later; this system has an older one")
        self.assertIn("Debian 12", gpu["remedy"])

    def test_a_system_without_glibc_is_the_reason(self):
        gpu = self.gpu_source(b"/ld-linux", b"/no-linux")
        self.assertEqual(gpu["reason"], "trainscope-gpu needs glibc 2.34 or later; this system has none")
        self.assertIn("Debian 12", gpu["remedy"])

    def test_a_missing_library_is_named(self):
        gpu = self.gpu_source(b"libgcc_s.so", b"libgcc_X.so")
        self.assertIn("cannot load trainscope-gpu", gpu["reason"])
        self.assertIn("libgcc_X.so", gpu["reason"])

    def test_a_run_records_the_reason(self):
        self.gpu_source(b"GLIBC_2.34", b"GLIBC_9.34")
        job = subprocess.Popen([self.path("trainscope"), "run", "--quiet", "--", "cat"], stdin=subprocess.PIPE,
                               env=self.environment())
        self.addCleanup(end, job)
        wait_until(lambda: "needs glibc 2.34" in (self.on_disk("hw.gpu.utilization").get("reason") or ""))
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0)


class Elsewhere(Case):
    """trainscope-gpu belongs next to trainscope: one of the working directory or of PATH may be somebody else's."""

    def test_a_program_of_that_name_elsewhere_is_not_started(self):
        alone, elsewhere = pathlib.Path(self.path("alone")), pathlib.Path(self.path("elsewhere"))
        alone.mkdir()
        elsewhere.mkdir()
        shutil.copy(BIN, alone)
        other = elsewhere / "trainscope-gpu"
        other.write_text(f"#!/bin/sh\n: > {self.path('started')}\n")
        other.chmod(0o755)
        (elsewhere / "trainscope").symlink_to(alone / "trainscope")
        surroundings = {"cwd": elsewhere, "env": self.environment(PATH=f"{elsewhere}:{os.environ['PATH']}")}
        for program in (alone / "trainscope", elsewhere / "trainscope", "trainscope"):
            done = self.trainscope("doctor", "--json", program=program, **surroundings)
            gpu = next(source for source in json.loads(done.stdout)["sources"] if source["name"] == "gpu")
            self.assertIn(f"{alone}/trainscope-gpu does not exist", gpu["reason"])
        job = subprocess.Popen(["trainscope", "run", "--quiet", "--", "cat"], stdin=subprocess.PIPE, **surroundings)
        self.addCleanup(end, job)
        wait_until(lambda: "does not exist" in (self.on_disk("hw.gpu.utilization").get("reason") or ""))
        job.communicate(timeout=60)
        self.assertFalse(os.path.exists(self.path("started")))


if __name__ == "__main__":
    main()
