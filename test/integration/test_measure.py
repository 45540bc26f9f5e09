"""`doctor --measure` on small sizes: every number with its unit, nothing left behind, and errors that name what is wrong.

How near the numbers are to those of fio, of STREAM and of CUDA is looked at by `bench/run limits`: no test depends on the
speed of this machine.
"""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

from trainscope_test import BIN, IS_ROOT, Case, main, wait_until

CUDA = os.environ.get("FAKE_CUDA_FOLDER", "build/release/fake-nvml")
LIBRARY = "libcuda.so.1"
NOBODY = 65534
SMALL = ("--each", "20ms", "--size", "4")
UNITS = {
    "cpu": {"cpu.speed.one_core": "{flop}/s", "cpu.speed.all_cores": "{flop}/s"},
    "memory": {"memory.bandwidth": "By/s"},
    "disk": {"disk.read.sequential": "By/s", "disk.read.sequential_parallel": "By/s",
             "disk.read.random": "{operation}/s", "disk.read.random_parallel": "{operation}/s", "disk.open": "{file}/s"},
    "gpu": {"gpu.copy.host_to_device": "By/s", "gpu.copy.device_to_host": "By/s",
            "gpu.copy.host_to_device_pageable": "By/s", "gpu.copy.device_to_host_pageable": "By/s",
            "gpu.launch.latency": "s", "gpu.launch.interval": "s"},
}


def mount_points():
    with open("/proc/self/mountinfo") as mounts:
        return [line.split()[4] for line in mounts]


class Measure(Case):
    def setUp(self):
        super().setUp()
        self.data = self.path("data")
        os.mkdir(self.data)

    def measure(self, *words, **keywords):
        done = self.trainscope("doctor", "--measure", "--json", *SMALL, "--data", self.data, *words, check=False, **keywords)
        self.skip_without_storage(done)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def skip_without_storage(self, done):
        for reason in ("O_DIRECT", "is in memory"):
            if reason.encode() in done.stderr:
                self.skipTest("the temporary folder cannot be measured: " + done.stderr.decode())

    def missing(self, document):
        return {missing["name"]: missing["reason"] for missing in document["limits_missing"]}

    def stored(self):
        files = list(pathlib.Path(self.home, "limits").glob("*"))
        self.assertEqual([file.name for file in files], [os.uname().nodename + ".json"])
        return json.loads(files[0].read_text())

    def assert_measured(self, document, kind):
        limits = {limit["name"]: limit for limit in document["limits"] if limit["name"].startswith(kind + ".")}
        self.assertEqual({name: limit["unit"] for name, limit in limits.items()}, UNITS[kind])
        for limit in limits.values():
            self.assertGreater(limit["value"], 0)
            self.assertTrue(limit["how"], limit)
            self.assertRegex(limit["measured"], r"^20\d\d-\d\d-\d\dT[\d:.]+Z$")
        return limits


class Limits(Measure):
    def test_processors(self):
        limits = self.assert_measured(self.measure("--only", "cpu"), "cpu")
        self.assertIn("1 thread,", limits["cpu.speed.one_core"]["how"])

    def test_memory(self):
        document = self.measure("--only", "memory")
        if document["limits_missing"]:  # a machine without free memory
            self.assertIn("free", document["limits_missing"][0]["reason"])
        else:
            self.assert_measured(document, "memory")

    def test_storage_and_nothing_is_left_where_the_data_is(self):
        pathlib.Path(self.data, "mine").write_text("unchanged")
        limits = self.assert_measured(self.measure("--only", "disk"), "disk")
        self.assertEqual(os.listdir(self.data), ["mine"])
        self.assertEqual(pathlib.Path(self.data, "mine").read_text(), "unchanged")
        for limit in limits.values():
            self.assertIn(os.path.realpath(self.data), limit["how"])
            # A chroot may not see the mount of its own root.
            if limit["mount_point"] is None:
                self.assertFalse(any(self.data.startswith(mount) for mount in mount_points()), self.data)
            else:
                self.assertTrue(os.path.realpath(self.data).startswith(limit["mount_point"]))
        self.assertIn("a file of 4 MiB", limits["disk.read.random"]["how"])

    def test_the_working_directory_is_the_default(self):
        done = self.trainscope("doctor", "--measure", "--json", "--only", "disk", *SMALL, cwd=self.data, check=False)
        self.skip_without_storage(done)
        self.assertIn(os.path.realpath(self.data), json.loads(done.stdout)["limits"][0]["how"])

    def test_kinds_add_up_in_one_file_per_host(self):
        self.measure("--only", "cpu")
        first = self.stored()
        self.assertEqual((first["schema"], first["host"]), ("trainscope.limits/1", os.uname().nodename))
        self.measure("--only", "disk", "--only", "cpu")
        document = json.loads(self.trainscope("doctor", "--json").stdout)
        self.assertEqual(document["limits"], self.stored()["limits"])
        self.assert_measured(document, "cpu")
        self.assert_measured(document, "disk")
        text = self.trainscope("doctor").stdout.decode()
        for limit in document["limits"]:
            self.assertIn(limit["name"], text)

    def test_nothing_is_measured_by_accident(self):
        document = json.loads(self.trainscope("doctor", "--json").stdout)
        self.assertEqual((document["limits"], document["limits_missing"]), ([], []))
        for words in (["--only", "cpu"], ["--data", self.data], ["--size", "4"], ["--each", "1s"]):
            done = self.trainscope("doctor", *words, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"--measure", done.stderr)
        self.assertEqual(os.listdir(self.home), [])

    def test_a_run_keeps_the_limits_of_its_host(self):
        self.measure("--only", "cpu")
        self.record(["true"])
        manifest, = pathlib.Path(self.home).glob("*/manifest.json")
        self.assertEqual(json.loads(manifest.read_text())["limits"]["limits"], self.stored()["limits"])

    def test_a_damaged_file_is_named_and_stops_nothing(self):
        self.measure("--only", "cpu")
        file, = pathlib.Path(self.home, "limits").glob("*")
        file.write_text(file.read_text()[:40])
        document = json.loads(self.trainscope("doctor", "--json").stdout)
        self.assertEqual(document["limits"], [])
        self.assertIn(str(file), document["limits_problem"])
        self.assertIn(str(file), self.trainscope("doctor").stdout.decode())
        self.record(["true"])
        self.assert_measured(self.measure("--only", "cpu"), "cpu")

    def test_another_machine_of_the_same_name(self):
        self.measure("--only", "cpu")
        file, = pathlib.Path(self.home, "limits").glob("*")
        stored = json.loads(file.read_text())
        if stored["machine"] is None:
            self.skipTest("this machine does not name its processors")
        file.write_text(json.dumps({**stored, "machine": "Cray, 4 CPUs"}))
        document = json.loads(self.trainscope("doctor", "--json").stdout)
        self.assertEqual(document["limits"], [])
        self.assertIn("another machine: Cray, 4 CPUs", document["limits_problem"])
        self.record(["true"])
        self.assertIsNone(json.loads(next(pathlib.Path(self.home).glob("*/manifest.json")).read_text())["limits"])
        self.measure("--only", "memory")
        self.assertEqual(self.stored()["machine"], stored["machine"])
        self.assertNotIn("cpu.", json.dumps(self.stored()["limits"]))


class Scarce(Measure):
    """What cannot be measured has a reason, and everything else is measured and stored."""

    def test_a_limit_of_file_size(self):
        self.measure("--only", "disk")
        document = self.measure("--only", "disk", "--only", "cpu",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
        self.assert_measured(document, "cpu")
        # No value of the first measurement stays next to the reason of the second.
        self.assertEqual([limit["name"] for limit in document["limits"] if limit["name"].startswith("disk.")], ["disk.open"])
        self.assertEqual(set(self.missing(document)), set(UNITS["disk"]) - {"disk.open"})
        self.assertIn("File too large", self.missing(document)["disk.read.random"])
        self.assertEqual(document["limits"], self.stored()["limits"])

    def test_no_more_threads(self):
        def be_scarce():
            if IS_ROOT:  # whom no such limit stops
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

        if IS_ROOT:
            for folder in (self.folder, self.home, self.data):
                os.chmod(folder, 0o777)
        try:
            document = self.measure("--only", "disk", preexec_fn=be_scarce)
        except PermissionError as error:
            self.skipTest(f"another user cannot run the program: {error}")
        self.assertEqual(set(self.missing(document)), set(UNITS["disk"]))
        self.assertIn("cannot start 1 thread:", self.missing(document)["disk.open"])
        self.assertEqual(os.listdir(self.data), [])


class Refused(Measure):
    def refused(self, *words, says, data=None):
        done = self.trainscope("doctor", "--measure", "--only", "disk", *SMALL, "--data", data or self.data, *words,
                               check=False)
        self.assertEqual((done.returncode, done.stdout), (2, b""), done)
        for part in says:
            self.assertIn(part, done.stderr.decode())
        self.assertEqual(os.listdir(self.home), [])

    def test_a_folder_that_cannot_be_written(self):
        # Nobody can create a file there.
        self.refused(data="/proc", says=["cannot measure storage in /proc", "--data DIR"])
        if not IS_ROOT:
            os.chmod(self.data, 0o555)
            self.refused(says=[f"cannot measure storage in {self.data}", "Permission denied"])

    def test_a_folder_that_does_not_exist(self):
        self.refused(data=self.path("nowhere"), says=[self.path("nowhere"), "No such file or directory"])

    def test_a_file_system_in_memory(self):
        if not any(line.split()[1:3] == ["/dev/shm", "tmpfs"] for line in open("/proc/mounts")):
            self.skipTest("/dev/shm is not a tmpfs")
        try:
            folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        except OSError as error:
            self.skipTest(str(error))
        with folder:
            self.refused(data=folder.name, says=["cannot measure storage", "--data DIR"])

    def test_too_little_space(self):
        free = shutil.disk_usage(self.data).free
        if free > 60 << 30:
            self.skipTest("more than 60 GiB are free")
        self.refused("--size", "65536", says=["are free", "--size MIB"])

    def test_invalid_numbers(self):
        self.refused("--size", "0", says=["--size 0"])
        self.refused("--each", "1h", says=["--each 1h", "10ms to 10s"])
        self.refused("--only", "tape", says=["tape"])


class Interrupted(Measure):
    def end_with(self, number):
        process = subprocess.Popen([BIN, "doctor", "--measure", "--only", "disk", "--size", "1", "--each", "10s",
                                    "--data", self.data], env=self.environment(), stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        wait_until(lambda: os.listdir(self.data) or process.poll() is not None)
        if process.poll() is not None:
            self.skipTest(process.stderr.read().decode())
        process.send_signal(number)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -number)
        self.assertEqual(os.listdir(self.home), [])

    def test_files_are_removed_when_a_signal_comes(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU):
            self.end_with(number)
            self.assertEqual(os.listdir(self.data), [])

    def test_the_next_measurement_removes_what_a_killed_one_left(self):
        self.end_with(signal.SIGKILL)
        self.assertNotEqual(os.listdir(self.data), [])
        self.assert_measured(self.measure("--only", "disk"), "disk")
        self.assertEqual(os.listdir(self.data), [])


@unittest.skipUnless(os.path.exists(os.path.join(CUDA, LIBRARY)), "the fake driver library is not built")
class Gpu(Measure):
    def setUp(self):
        super().setUp()
        self.driver = self.path("driver")
        os.mkdir(self.driver)
        os.symlink(os.path.abspath(os.path.join(CUDA, LIBRARY)), os.path.join(self.driver, LIBRARY))

    def environment(self, **more):
        return super().environment(**{"LD_LIBRARY_PATH": self.driver, **more})

    def control(self, words):
        pathlib.Path(self.driver, "control").write_text(words)

    def test_copies_and_launches(self):
        limits = self.assert_measured(self.measure("--only", "gpu"), "gpu")
        for limit in limits.values():
            self.assertIn("Fake H1", limit["how"])

    def test_no_gpu(self):
        self.control("cuda=none")
        document = self.measure("--only", "gpu")
        self.assertEqual(set(self.missing(document)), set(UNITS["gpu"]))
        self.assertIn("reports no GPU", self.missing(document)["gpu.launch.latency"])

    def test_a_full_gpu_still_launches(self):
        self.control("cuda=full")
        document = self.measure("--only", "gpu")
        self.assertIn("out of memory", self.missing(document)["gpu.copy.host_to_device"])
        self.assertEqual({limit["name"] for limit in document["limits"]}, {"gpu.launch.latency", "gpu.launch.interval"})

    def test_without_a_compiler_copies_are_measured(self):
        self.control("cuda=no-compiler")
        document = self.measure("--only", "gpu")
        self.assertEqual(set(self.missing(document)), {"gpu.launch.latency", "gpu.launch.interval"})
        self.assertIn("JIT compiler", self.missing(document)["gpu.launch.latency"])
        self.assertEqual(len(document["limits"]), 4)

    def test_without_a_driver_the_reason_is_the_library(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is one")
        os.unlink(os.path.join(self.driver, LIBRARY))
        self.assertIn("libcuda.so.1", self.missing(self.measure("--only", "gpu"))["gpu.copy.host_to_device"])


if __name__ == "__main__":
    main()
