"""The Python client: exact lines, waits for data, no effect outside a run, installed by pip."""
import os
import re
import subprocess
import sys
import unittest

from progress_fifo import PYTHON_CLIENT, ROOT, FifoCase, client, outside_a_run
from trainscope_test import Case, main

# Every function once or more, with what it must send beside it.
EVERYTHING = """
    import trainscope
    trainscope.step()
    trainscope.step(5, loss=0.31)
    trainscope.step(7, epoch=2, of=100, accuracy=0.5, set="validation")
    trainscope.epoch(2, loss=1e-05, val_accuracy=1)
    trainscope.begin("forward")
    trainscope.end("forward")
    with trainscope.phase("checkpoint"):
        pass
    trainscope.phase("input", 0.25)
    trainscope.batch(64)
    trainscope.scalar("learning rate", 0.001)
    trainscope.scalar("loss", float("nan"), set="test")
    trainscope.mark("half\\nway, ä")
"""
EVERY_LINE = [
    "step", "step 5 loss=0.31", "step 7 epoch=2 of=100 accuracy=0.5 set=validation",
    "epoch 2 loss=1e-05 val_accuracy=1", "begin forward", "end forward", "begin checkpoint", "end checkpoint",
    "phase input 0.250000000", "batch 64", "scalar learning_rate 0.001", "scalar loss nan set=test",
    "mark half way, ä",
]


class Lines(FifoCase):
    def test_every_function(self):
        self.assertEqual(self.fifo.run_python(EVERYTHING), EVERY_LINE)

    def test_the_first_value_that_is_no_number_is_printed(self):
        done = self.fifo.run(client("""
            import trainscope
            trainscope.step(1, loss=None)
            trainscope.step("bad", loss="x")
            trainscope.step(2, loss="y")
            trainscope.epoch("z")
            print("the job continues")
            """), quiet=False)
        self.assertEqual(done.stdout, b"the job continues\n")
        self.assertEqual(done.stderr, b"trainscope: ignored step number 'bad': it is not a number; "
                                      b"later ones are not reported\n")
        self.assertEqual(self.fifo.sent(), ["step 1", "step", "step 2", "epoch"])

    def test_a_value_that_cannot_be_printed_stops_nothing(self):
        self.assertEqual(self.fifo.run_python("""
            import sys, trainscope
            class Odd:
                def __repr__(self): raise RuntimeError
            trainscope.step(1, loss=Odd())
            sys.stderr = None
            trainscope.step("x")
            """), ["step 1", "step"])

    def test_what_is_no_number_is_left_out(self):
        self.assertEqual(self.fifo.run_python("""
            import trainscope
            class Odd:
                def __str__(self): raise RuntimeError
                __float__ = __int__ = __str__
            trainscope.step("x", loss=None, accuracy="0.5", odd=Odd(), fine=2)
            trainscope.step(-1, t=1, who=2)
            trainscope.epoch(3.0, loss=[1, 2])
            trainscope.scalar("a", None)
            trainscope.scalar(Odd(), 1)
            trainscope.batch(0)
            trainscope.batch(None)
            trainscope.phase("input", -1)
            trainscope.phase("input", float("nan"))
            trainscope.phase("input", "1")
            trainscope.mark("")
            trainscope.mark(Odd())
            trainscope.begin("")
            """, quiet=False), ["step fine=2", "step t_=1 who_=2", "epoch 3", "scalar _ 1", "begin _"])

    def test_an_exception_in_a_phase_goes_its_way(self):
        self.assertEqual(self.fifo.run_python("""
            import trainscope
            try:
                with trainscope.phase("forward"):
                    raise KeyError
            except KeyError:
                trainscope.mark("caught")
            """), ["begin forward", "end forward", "mark caught"])

    def test_a_long_text_is_cut_between_characters(self):
        for text in ("ä" * 5000, "a" + "ä" * 5000, "aa€" * 3000, "\U0001F600" * 2000, "x" * 4096):
            line = self.fifo.run_python("import sys, trainscope; trainscope.mark(sys.argv[1])", text)[0]
            self.assertTrue(text.startswith(line[5:]), line[-20:])
            # What was cut off would not have fitted: the time takes less than 24 bytes.
            self.assertGreater(len(line.encode()), 4096 - 24 - 4)

    def test_a_line_with_many_numbers_is_cut_between_them(self):
        line, = self.fifo.run_python("""
            import trainscope
            trainscope.step(1, **{"number_%d" % i: i + 0.5 for i in range(1000)})
            """)
        words = line.split()[2:]
        self.assertEqual(words, [f"number_{i}={i + 0.5}" for i in range(len(words))])
        self.assertGreater(len(line), 4096 - 24 - 20)

    def test_a_name_has_128_letters(self):
        line, = self.fifo.run_python("import trainscope; trainscope.begin('loss/ä b:' + 'n' * 200)")
        self.assertEqual(line, ("begin loss/___b:" + "n" * 200)[:6 + 128])


class OutsideARun(FifoCase):
    def quiet(self, source, **environment):
        """Runs a client that must neither say nor leave anything."""
        done = subprocess.run(client(source), env=outside_a_run(**environment), capture_output=True,
                              timeout=120)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_nothing_happens(self):
        self.quiet(EVERYTHING + """
    import os
    assert not trainscope.active()
    data = [1, 2]
    assert trainscope.iterate(data) is data
    assert list(trainscope.torch.loop(data)) == data
    assert sorted(map(int, os.listdir("/proc/self/fd")))[:-1] == [0, 1, 2]
    """)

    def test_a_pipe_that_is_not_there_or_not_ours(self):
        self.quiet(EVERYTHING, TRAINSCOPE_PIPE=self.path("nothing"))
        self.quiet(EVERYTHING, TRAINSCOPE_PIPE=self.folder)
        with open(self.path("file"), "w") as file:
            file.write("precious")
        self.quiet(EVERYTHING, TRAINSCOPE_PIPE=file.name)
        with open(file.name) as file:
            self.assertEqual(file.read(), "precious")

    def test_nobody_reads(self):
        self.fifo.close()
        self.addCleanup(setattr, self.fifo, "descriptor", os.open("/dev/null", os.O_RDONLY))
        self.quiet(EVERYTHING, TRAINSCOPE_PIPE=self.fifo.path)
        self.fifo.descriptor = os.open(self.fifo.path, os.O_RDWR | os.O_NONBLOCK)

    def test_an_import_costs_little(self):
        """What it costs is printed; that it brings no module of others along is checked."""
        compiled = {**outside_a_run(), "PYTHONPYCACHEPREFIX": self.path("cache")}
        source = ("import os, stat, sys, time; sys.path.insert(0, sys.argv[1]); before = set(sys.modules)\n"
                  "began = time.perf_counter(); import trainscope\n"
                  "print('%.2f ms' % (1e3 * (time.perf_counter() - began)))\n"
                  "print(sorted(set(sys.modules) - before))")
        compiled.pop("PYTHONDONTWRITEBYTECODE", None)
        for run in ("first", "second"):
            done = subprocess.run([sys.executable, "-c", source, PYTHON_CLIENT], env=compiled, check=True,
                                  capture_output=True, text=True)
            took, modules = done.stdout.splitlines()
            print(f"      {run} import: {took}")
            self.assertEqual(modules, "['trainscope', 'trainscope._pipe']")


class Waits(FifoCase):
    def test_iterate_measures_the_wait_for_each_item(self):
        lines = self.fifo.run_python("""
            import time, trainscope
            def slow():
                for i in range(3):
                    time.sleep(0.05)
                    yield i
            for i in trainscope.iterate(slow()):
                time.sleep(0.1)
                trainscope.step(i)
            """)
        self.assertEqual(lines[1::2], ["step 0", "step 1", "step 2"])
        for line in lines[::2]:
            # Longer than was slept; that it is not the body's time is what the sum of both would show.
            self.assertGreaterEqual(float(re.fullmatch(r"phase input (\S+)", line)[1]), 0.05)

    def test_what_iterate_wraps_stays_what_it_was(self):
        lines = self.fifo.run_python("""
            import gc, types, trainscope, weakref
            class Data(list):
                batch_size = 7
            class Item:
                pass
            data = trainscope.iterate(Data([1, 2]), "reading")
            assert len(data) == 2 and bool(data) and data.batch_size == 7 and not hasattr(data, "other")
            assert list(data) == [1, 2] and list(data) == [1, 2]
            assert isinstance(trainscope.iterate(i for i in "ab"), types.GeneratorType)
            kept = [weakref.ref(item) for item in trainscope.iterate(Item() for _ in range(2))]
            assert [item() for item in kept] == [None, None]
            class Bad:
                def __init__(self): self.n = 0
                def __iter__(self): return self
                def __next__(self):
                    self.n += 1
                    if self.n == 2: raise ValueError
                    if self.n == 4: raise StopIteration
                    return self.n
            items, bad = [], trainscope.iterate(Bad())
            while True:
                try: items.append(next(bad))
                except ValueError: items.append("bad")
                except StopIteration: break
            assert items == [1, "bad", 3], items
            """)
        self.assertEqual([line.split()[1] for line in lines], ["reading"] * 4 + ["input"] * 4)

    def test_loop_tells_of_each_step_when_its_body_ends(self):
        lines = self.fifo.run_python("""
            import trainscope
            batches = [memoryview(b"1234"), [memoryview(b"1234"), 1], {"x": memoryview(b"12")}, "text", ()]
            steps = trainscope.torch.loop(batches)
            assert len(steps) == 5
            for i, batch in enumerate(steps):
                assert batch is batches[i]
                trainscope.mark("body")
                if i == 1:
                    steps.report(loss=0.5, number=10)
            for batch in steps:
                break
            """)
        phase = "phase input"
        self.assertEqual([re.sub(r"input \S+", "input", line) for line in lines],
                         [phase, "batch 4", "mark body", "step", phase, "mark body", "step 10 loss=0.5",
                          phase, "batch 2", "mark body", "step", phase, "mark body", "step",
                          phase, "mark body", "step", phase, "batch 4"])


class Package(Case):
    def test_pip_installs_it_without_network(self):
        target = self.path("site")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
               "--target", target, ROOT / "python"]
        if subprocess.run(pip[:3] + ["--version"], capture_output=True).returncode != 0:
            raise unittest.SkipTest("pip is missing (Debian: apt install python3-pip)")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
        done = subprocess.run(pip, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        version = self.trainscope("--version").stdout.decode().split()[1]
        installed = subprocess.run(
            [sys.executable, "-B", "-c", "import importlib.metadata, trainscope, trainscope.torch\n"
             "print(trainscope.__file__, trainscope.__version__, importlib.metadata.version('trainscope'))"],
            env=outside_a_run(PYTHONPATH=target), cwd="/", capture_output=True, text=True, check=True)
        self.assertEqual(installed.stdout.split(), [f"{target}/trainscope/__init__.py", version, version])


class InARun(Case):
    def test_a_job_that_tells_of_itself_is_a_job_like_any_other(self):
        done = self.record(client("import trainscope; assert trainscope.active()\n"
                                  "for i in range(5000): trainscope.step(i, loss=1 / (i + 1))\n"
                                  "print('trained')"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"trained\n", b""))


if __name__ == "__main__":
    main()
