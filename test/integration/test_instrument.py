"""The module of `run --instrument`: how it gets into a job, and its rules for steps and phases on a fake PyTorch."""
import os
import pathlib
import subprocess
import sys
import unittest

from instrumented_job import FAKES, MODEL, SOURCES, FakeTorchCase, InstrumentedCase, install
from probed_job import CLOCK
from progress_fifo import PYTHON_CLIENT
from trainscope_test import main

SHOW = """
import os, sys
own = sys.modules.get("sitecustomize")
print(getattr(own, "ORIGIN", own and own.__file__), [type(f).__name__ for f in sys.meta_path if type(f).__module__ == "sitecustomize"])
print([p for p in sys.path if p != os.path.dirname(os.path.abspath(__file__))])
"""


class Startup(InstrumentedCase):
    def show(self, options=(), is_bare=False, own=None, **environment):
        """What a Python shows of its start: (stdout, stderr)."""
        path = ""
        if own is not None:
            path = self.path("own")
            os.makedirs(path, exist_ok=True)
            pathlib.Path(path, "sitecustomize.py").write_text(own)
        done = self.run_job(sys.executable, SHOW, options=options, is_bare=is_bare, python_path=path, **environment)
        # With -S nobody takes the folder out of the path again.
        return done.stdout.decode().replace("['_Finder']", "[]").replace(f"{self.startup!r}, ", ""), done.stderr.decode()

    def test_a_job_starts_as_without_it(self):
        for own in (None, "ORIGIN = 'mine'", "import nowhere", "raise ValueError('broken')", "1 +"):
            for options in ((), ("-s",), ("-O",), ("-P",) if sys.version_info >= (3, 11) else (), ("-I",), ("-E",), ("-S",)):
                with self.subTest(own=own, options=options):
                    self.assertEqual(self.show(options, own=own), self.show(options, is_bare=True, own=own))

    def test_it_is_there_unless_python_is_isolated(self):
        for options, is_there in (((), True), (("-s",), True), (("-I",), False), (("-E",), False), (("-S",), False)):
            done = self.run_job(sys.executable, SHOW, options=options)
            self.assertEqual(b"_Finder" in done.stdout, is_there, options)

    def test_it_is_switched_off_by_the_variable_and_outside_a_run(self):
        self.assertNotIn(b"_Finder", self.run_job(sys.executable, SHOW, TRAINSCOPE_INSTRUMENT="0").stdout)
        environment = {k: v for k, v in self.environment().items() if k != "TRAINSCOPE_PIPE"}
        done = subprocess.run([sys.executable, self.path("job.py")], env=environment, capture_output=True, check=True)
        self.assertNotIn(b"_Finder", done.stdout)

    def test_a_sitecustomize_that_ends_python_ends_it(self):
        path = self.path("own")
        os.makedirs(path)
        pathlib.Path(path, "sitecustomize.py").write_text("raise SystemExit(7)")
        self.assertEqual(self.run_job(sys.executable, "", python_path=path, is_bare=True, code=1).returncode,
                         self.run_job(sys.executable, "", python_path=path, code=1).returncode)

    def test_children_have_it_too(self):
        pathlib.Path(self.path("child.py")).write_text(MODEL + "assert train(loader(3)) == 3")
        lines = self.sent_by(sys.executable, """
            import subprocess, sys
            subprocess.run([sys.executable, "child.py"], check=True)
            """, python_path=FAKES)
        self.assertEqual(len(lines.steps()), 3)

    def test_a_run_inside_of_a_run_reports_once(self):
        other = install(self.path("other"))
        lines = self.sent_by(sys.executable, MODEL + "train(loader(4))", python_path=other + ":" + FAKES)
        self.assertEqual(len(lines.steps()), 4)

    def test_old_pythons_start_as_without_it(self):
        found = False
        for version in ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.12", "3.13"):
            for python in pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python"):
                found = True
                with self.subTest(version=version):
                    script = "import sys; sys.stdout.write(str('sitecustomize' in sys.modules))"
                    outputs = [subprocess.run([str(python), "-c", script], env=self.environment(is_bare=is_bare),
                                              capture_output=True, check=True) for is_bare in (False, True)]
                    self.assertEqual(outputs[0].stdout, outputs[1].stdout)
                    self.assertEqual(outputs[0].stderr, outputs[1].stderr)
        if not found:
            raise unittest.SkipTest("no other Python in ~/.pyenv")

    def test_only_the_stub_can_be_imported(self):
        self.assertEqual(os.listdir(self.startup), ["sitecustomize.py"])
        stub = {"__file__": str(SOURCES / "startup/sitecustomize.py"), "__name__": "stub"}
        text = (SOURCES / "startup/sitecustomize.py").read_text()
        exec(compile(text[:text.index("sys.path[:]")], "stub", "exec"), stub)  # the definitions alone
        hooks = {}
        exec(compile((SOURCES / "modules/__init__.py").read_text(), "package", "exec"), hooks)
        self.assertEqual(stub["_TARGETS"], set(hooks["_HOOKS"]))


class Steps(FakeTorchCase):
    def test_each_batch_with_an_update(self):
        lines = self.sent("assert train(loader(15)) == 15")
        self.assert_steps(lines, 15)
        self.assertEqual({(step["updates"], step["batches"]) for step in lines.steps()}, {(1, 1)})
        for name in ("input", "forward", "backward", "optimizer"):
            self.assertEqual(len(lines.phase_s(name)), 15, name)
        self.assertEqual(lines.starting("batch"), ["batch 4"])
        self.assertEqual(lines.steps()[0]["loss"], 0.5)
        self.assertIn("instrumented torch 2.fake: input forward backward optimizer checkpoint", lines.marks()[0])

    def test_accumulation(self):
        lines = self.sent("assert train(loader(60), every=4) == 15")
        self.assert_steps(lines, 15)
        self.assertEqual({step["batches"] for step in lines.steps()}, {4})
        self.assertEqual(lines.starting("batch"), ["batch 16"])

    def test_two_optimizers(self):
        lines = self.sent("""
both = [torch.optim.SGD(), torch.optim.SGD()]
for batch in loader(10):
    for optimizer in both:
        torch.Tensor().backward(); optimizer.step()
""")
        self.assert_steps(lines, 10)
        self.assertEqual({step["updates"] for step in lines.steps()}, {2})

    def test_a_closure_that_trains_inside_of_the_update(self):
        lines = self.sent("""
def closure():
    for _ in range(3): time.sleep(0.002); torch.Tensor().backward()
for batch in loader(10): torch.optim.SGD().step(closure)
""")
        self.assert_steps(lines, 10)
        self.assertEqual((len(lines.phase_s("backward")), len(lines.phase_s("forward"))), (30, 30))
        self.assertLess(min(lines.phase_s("optimizer")), 0.006, "contains the closure, which sleeps that long")

    def test_without_a_loader(self):
        lines = self.sent("""
both = [torch.optim.SGD(), torch.optim.SGD()]
for _ in range(12):
    for optimizer in both: torch.Tensor().backward(); optimizer.step()
""")
        self.assert_steps(lines, 12)

    def test_a_loader_that_is_left_and_training_without_one(self):
        lines = self.sent("""
batch, optimizer = next(iter(loader(5))), torch.optim.SGD()
for _ in range(30): torch.Tensor().backward(); optimizer.step()
""")
        self.assert_steps(lines, 30)

    def test_two_loaders_in_turn(self):
        lines = self.sent("""
optimizer = torch.optim.SGD()
for a, b in zip(loader(8), loader(8)): torch.Tensor().backward(); optimizer.step()
""")
        self.assert_steps(lines, 8)
        self.assertEqual({step["batches"] for step in lines.steps()}, {2})

    def test_a_loader_that_reads_from_another_one(self):
        """In bursts and between them."""
        lines = self.sent("""
outer = torch.utils.data.DataLoader(batch for batch in loader(3000, 0.0003))
assert train(outer, every=2) == 1500
""")
        self.assert_steps(lines, 1500)
        self.assertEqual(len(lines.phase_s("input")), 3000)
        self.assertLess(sum(step["timed"] for step in lines.steps()), 1500)

    def test_steps_between_bursts_are_counted(self):
        """Steps of 0.3 ms cannot all be timed. Pauses between bursts are shortened to half a second."""
        lines = self.sent("""
import sys
sys.modules["_trainscope_instrument.budget"].LONGEST_PAUSE_NS = 500000000
done = train(loader(3000, 0.0003), every=3)
done += train(loader(3000, 0.0003))
optimizer = torch.optim.SGD()
for _ in range(500): optimizer.step()
print(done + 500)
""")
        self.assert_steps(lines, int(self.job.stdout))
        timed = [step for step in lines.steps() if step["timed"]]
        self.assertGreater(len(timed), 16)
        self.assertLess(len(timed), 3000)
        self.assertEqual({step["batches"] for step in lines.steps()[:1000]}, {3})
        self.assertEqual(len(lines.phase_s("input")), 6000)
        self.assertTrue(any("bursts" in mark for mark in lines.marks()), lines.marks())
        self.assertTrue(any("of step time in hooks" in mark for mark in lines.marks()), lines.marks())

    def test_steps_between_bursts_are_sent_many_at_once(self):
        """Nothing but one format for all of them is used. On a clock of its own, and without bursts: otherwise it depends on
        the machine how many steps are between them."""
        self.fifo.made_ns = 0
        lines = self.sent_by(sys.executable, CLOCK + MODEL + """
train(loader(100, 0.0003))
own = sys.modules["_trainscope_instrument.session"].session
trace = sys.modules["_trainscope_instrument.torch_hooks"].hooks.traces[0]
budget = trace.budget
budget.is_timed, budget.has_bursts, budget.resume_ns, budget._untimed_ns = False, True, 1 << 62, 0
calls = {"write": 0, "write_steps": 0}
def observed(name, original):
    def call(*arguments, **keywords):
        calls[name] += 1
        return original(*arguments, **keywords)
    return call
for name in calls: setattr(own, name, observed(name, getattr(own, name)))
train(loader(3000, 0.0003))
print(calls["write"], calls["write_steps"])
""", python_path=FAKES)
        alone, together = map(int, self.job.stdout.split())
        self.assert_steps(lines, 3100)
        self.assertIn(together, (3, 4))  # every 250 ms of the 900 ms
        self.assertLessEqual(alone, 3)

    def test_long_steps_between_bursts_wait_for_more_of_their_kind(self):
        lines = self.sent("""
import sys
train(loader(100, 0.0003))
trace = sys.modules["_trainscope_instrument.torch_hooks"].hooks.traces[0]
trace.budget.resume_ns = 1 << 62
def wait_ms(step_ms):
    trace.budget._step_ns = step_ms * 1000000
    return (trace.due_ns() - trace.log.flushed_ns) // 1000000
print(wait_ms(1), wait_ms(2), wait_ms(5))
""")
        self.assertEqual(self.job.stdout.split(), [b"250", b"400", b"500"])
        self.assert_steps(lines, 100)

    def test_steps_between_bursts_name_their_rank(self):
        lines = self.sent("assert train(loader(2000, 0.0003)) == 2000", RANK="3", WORLD_SIZE="4")
        self.assert_steps(lines, 2000, "rank3")
        self.assertEqual(len(lines.phase_s("input", "rank3")), 2000)
        self.assertEqual(lines.senders(), {"rank3"})
        self.assertIn("; rank 3 of 4", lines.marks()[0])

    def test_evaluation_is_not_a_step(self):
        lines = self.sent("""
for epoch in range(2):
    assert train(loader(5)) == 5
    with torch.no_grad():
        for batch in loader(7): pass
""")
        self.assert_steps(lines, 10)
        self.assertEqual(len(lines.starting("begin evaluation", "phase evaluation")), 2)
        self.assertEqual(len(lines.phase_s("input")), 10)

    def test_an_evaluation_that_is_left_early_ends(self):
        lines = self.sent("""
train(loader(3))
with torch.no_grad():
    for batch in loader(7): break
time.sleep(0.1)
train(loader(3))
""")
        self.assert_steps(lines, 6)
        self.assertEqual(lines.starting("begin", "end"), ["begin evaluation", "end evaluation"])

    def test_checkpoints_are_counted_once(self):
        lines = self.sent("""
import io
train(loader(3)); torch.save([1, [2, 3]], "m.pt"); train(loader(3)); torch.save(1, io.BytesIO())
try: torch.save("fails", "m.pt")
except OSError as error: print(error)
""")
        self.assertEqual(lines.starting("begin", "end", "phase checkpoint")[:2], ["begin checkpoint", "end checkpoint"])
        self.assertEqual(len(lines.starting("begin checkpoint", "phase checkpoint")), 2)
        self.assertEqual(self.job.stdout, b"disk full\n")

    def test_a_dry_device(self):
        """The event is queried once per step, and never during a capture."""
        lines = self.sent("""
torch.cuda.dry[:] = [True, False, True, True]
optimizer = torch.optim.SGD()
for i, batch in enumerate(loader(7)):
    torch.cuda._is_capturing = i > 4
    optimizer.step()
print(torch.cuda.calls)
""")
        self.assertEqual([step.get("dry") for step in lines.steps()], [None, 1, 0, 1, 1, None, None])
        self.assertEqual(eval(self.job.stdout), ["record", "query"] * 4)

    def test_compiled_updates_count_batches_and_say_so(self):
        source = """
optimizer = torch.optim.SGD()
for batch in loader(COUNT): torch.Tensor().backward(); optimizer.unhooked_step()
"""
        compiles = "import torch._dynamo.eval_frame; torch._dynamo.eval_frame.OptimizeContext()\n"
        for count in (5, 100):
            lines = self.sent(compiles + source.replace("COUNT", str(count)))
            self.assert_steps(lines, count)
            self.assertTrue(any("each batch counts as a step" in mark for mark in lines.marks()))
            self.assert_steps(self.sent(source.replace("COUNT", str(count))), 0)

    def test_nothing_but_the_original_while_it_is_compiled(self):
        lines = self.sent("""
torch.compiler._is_compiling = True
train(loader(5)); torch.save(1, "m.pt")
""")
        self.assertEqual([line for line in lines.all if not line.startswith("mark")], [])

    def test_the_same_hooks_once_something_is_compiled(self):
        """Dynamo guards on what it has traced: a hook that changes makes it compile again."""
        self.sent("""
import torch._dynamo.eval_frame
hooks = torch.optim.optimizer._global_optimizer_post_hooks
seen = []
train(loader(100, 0.0002)); torch._dynamo.eval_frame.OptimizeContext()
for batch in loader(3000, 0.0003):
    torch.optim.SGD().step(); seen.append((list(hooks.values()), torch.autograd.backward))
assert len({str(s) for s in seen}) == 1, seen
""")

    def test_input_wait(self):
        lines = self.sent("train(loader(20, 0.01))")
        self.assertGreaterEqual(min(lines.phase_s("input")), 0.01)

    def test_reports_of_the_client_take_precedence(self):
        for every in (1, 5):
            lines = self.sent(f"""
sys.path.insert(0, {str(PYTHON_CLIENT)!r})
import trainscope
for i, batch in enumerate(loader(15, 0.05)):
    torch.Tensor().backward(); torch.optim.SGD().step()
    if (i + 1) % {every} == 0: trainscope.step(i + 1)
""")
            self.assertEqual(lines.starting("step"), [f"step {i}" for i in range(every, 16, every)])
            self.assertEqual(len(lines.phase_s("backward")), 15)

    def test_evaluations_that_the_client_reports_are_no_steps(self):
        lines = self.sent(f"""
sys.path.insert(0, {str(PYTHON_CLIENT)!r})
import trainscope
for i, batch in enumerate(loader(15)):
    torch.Tensor().backward(); torch.optim.SGD().step()
    if i % 5 == 4: trainscope.step(i + 1, set="validation", loss=0.5)
""")
        own = [line for line in lines.starting("step") if "set=validation" not in line]
        self.assertEqual([line.split()[1] for line in own], [str(i) for i in range(1, 16)])

    def test_steps_that_were_held_are_released_bit_by_bit_and_in_order(self):
        lines = self.sent(f"""
sys.path.insert(0, {str(PYTHON_CLIENT)!r})
import trainscope
trainscope.mark("hello")
train(loader(700))
own = next(module for name, module in sys.modules.items() if name.endswith(".session") and hasattr(module, "Session"))
log = own.session.main_log or own.session.log()
log.flush(own.now_ns())
sizes, write = [], own.session.write
def observed(lines, log, is_unsure=False):
    sizes.append(len(lines))
    write(lines, log, is_unsure)
own.session.write = observed
own.session._hold_until_ns = 0
while log.held: log.flush(own.now_ns())
print(max(sizes), len(sizes))
train(loader(1))
""")
        most, flushes = map(int, self.job.stdout.split())
        self.assertLessEqual(most, 320)
        self.assertGreaterEqual(flushes, 2)
        self.assert_steps(lines, 701)

    def test_a_client_that_reports_no_steps(self):
        lines = self.sent(f"""
sys.path.insert(0, {str(PYTHON_CLIENT)!r})
import trainscope
trainscope.mark("hello"); train(loader(5))
""")
        self.assert_steps(lines, 5)


class Processes(FakeTorchCase):
    def test_a_fork_sends_nothing_twice(self):
        lines = self.sent("""
import os
train(loader(5))
child = os.fork()
if child == 0:
    train(loader(3))
    sys.exit(0)
os.waitpid(child, 0)
print(child)
""")
        child = self.job.stdout.decode().strip()
        self.assertEqual(lines.senders(), {None, child})
        self.assertEqual((len(lines.steps()), len(lines.steps(child))), (5, 3))

    def test_a_forked_loader_is_silent(self):
        lines = self.sent("""
import os
train(loader(5))
if os.fork() == 0: sys.exit(0)
os.wait()
""")
        self.assertEqual(lines.senders(), {None})

    def test_children_of_multiprocessing(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                lines = self.sent(f"""
import multiprocessing
def work(): train(loader(4))
if __name__ == "__main__":
    child = multiprocessing.get_context({method!r}).Process(target=work)
    child.start(); child.join(); print(child.pid)
""")
                child = self.job.stdout.decode().strip()
                self.assertEqual(len(lines.steps(child)), 4, lines.all)

    def test_ranks(self):
        lines = self.sent("train(loader(4))", RANK="1")
        self.assertEqual(lines.senders(), {"rank1"})
        self.assertEqual(len(lines.steps("rank1")), 4)

    def test_a_process_that_trains_nothing(self):
        lines = self.sent("")
        self.assertEqual(len(lines.all), 2)
        self.assertIn("no training was seen", lines.marks()[1])

    def test_two_threads_train(self):
        lines = self.sent("""
import threading
threads = [threading.Thread(target=train, args=(loader(200, 0.0005),), name="t%d" % i) for i in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
        self.assertEqual(len(lines.senders()), 2)
        self.assertEqual(sum(len(lines.steps(who)) for who in lines.senders()), 400)


class Failures(FakeTorchCase):
    def test_an_exception_of_ours_ends_it_and_nothing_else(self):
        for method in ("take_batch", "end_iterator", "take_backward", "begin_update", "end_update"):
            with self.subTest(method=method):
                lines = self.sent(f"""
trace = sys.modules["_trainscope_instrument.trace"].Trace
def broken(*arguments): raise KeyError("planted")
original = torch.utils.data.dataloader._BaseDataLoaderIter.__next__.__wrapped__
trace.{method} = broken
assert train(loader(5)) == 5 and train(loader(5)) == 5
assert torch.utils.data.dataloader._BaseDataLoaderIter.__next__ is original
""")
                stopped = [mark for mark in lines.marks() if mark.startswith("instrumentation stopped")]
                self.assertEqual(len(stopped), 1, lines.all)
                self.assertIn("KeyError: 'planted'", stopped[0])
                self.assertEqual(self.job.stderr, b"")

    def test_an_exception_of_the_jobs_signal_handler_reaches_the_job(self):
        self.sent("""
import os, signal
trace = sys.modules["_trainscope_instrument.trace"].Trace
original = trace.take_batch
def interrupted(*arguments):
    os.kill(os.getpid(), signal.SIGUSR1); time.sleep(0)
    return original(*arguments)
trace.take_batch = interrupted
def handler(*arguments): raise TimeoutError("the job's own")
signal.signal(signal.SIGUSR1, handler)
try: train(loader(5))
except TimeoutError: sys.exit(3)
""", code=3)

    def test_exceptions_of_the_job_stay_its_own(self):
        lines = self.sent("""
def batches():
    yield [torch.Tensor()]
    raise ValueError("bad file")
try: train(torch.utils.data.DataLoader(batches()))
except ValueError as error: print(error)
train(loader(3))
""")
        self.assertEqual(self.job.stdout, b"bad file\n")
        self.assertEqual(len(lines.steps()), 4)

    def test_missing_attach_points(self):
        """Each in a version of PyTorch that does not have it; the others still work."""
        for module, name in (("torch.autograd", "backward"), ("torch.optim.optimizer", "register_optimizer_step_post_hook"),
                             ("torch.serialization", "save"), ("torch.utils.data.dataloader", "_BaseDataLoaderIter.__next__")):
            with self.subTest(name=name):
                # The job's own finder comes first and removes the name before ours sees the module.
                lines = self.sent_by(sys.executable, f"""
                    import sys
                    finder = next(f for f in sys.meta_path if type(f).__name__ == "_Finder")
                    attach = type(finder).find_spec.__globals__["_attach"]
                    def without(name, module):
                        if name == {module!r}:
                            owner = module
                            for part in {name!r}.split(".")[:-1]: owner = getattr(owner, part)
                            removed = getattr(owner, {name!r}.split(".")[-1])
                            delattr(owner, {name!r}.split(".")[-1])
                            attach(name, module)
                            setattr(owner, {name!r}.split(".")[-1], removed)
                        else:
                            attach(name, module)
                    type(finder).find_spec.__globals__["_attach"] = without
                    """.replace("\n" + " " * 20, "\n") + MODEL + "train(loader(5)); torch.save(1, 'm.pt')", python_path=FAKES)
                self.assertIn("not attached: " + module, lines.marks()[0])
                self.assertEqual(self.job.stderr, b"")

    def test_a_missing_folder_changes_nothing(self):
        lines = self.sent_by(sys.executable, "import shutil, sys; shutil.rmtree(sys.argv[1])\n" + MODEL + "print(train(loader(5)))",
                             self.path("instrument"), python_path=FAKES)
        self.assertEqual((lines.all, self.job.stdout, self.job.stderr), ([], b"5\n", b""))

    def test_no_reader(self):
        environment = {**self.environment(python_path=FAKES), "TRAINSCOPE_PIPE": self.path("nowhere")}
        done = subprocess.run([sys.executable, "-c", MODEL + "print(train(loader(5)))"], env=environment, capture_output=True, check=True)
        self.assertEqual((done.stdout, done.stderr), (b"5\n", b""))


if __name__ == "__main__":
    main()
