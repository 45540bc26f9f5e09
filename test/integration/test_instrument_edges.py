"""The module of `run --instrument` where a job does the unusual, on a fake PyTorch: exceptions out of signal handlers, batches
that are kept, threads that only read, graphs, ranks, runs inside of runs, jobs that are killed."""
import os
import sys

from instrumented_job import FAKES, MODEL, FakeTorchCase, install
from progress_fifo import PYTHON_CLIENT
from trainscope_test import main

# Our code is interrupted where it takes a batch.
INTERRUPTED = """
import ctypes, functools, os, signal, threading
trace = sys.modules["_trainscope_instrument.trace"].Trace
original = trace.take_batch
def interrupted(*arguments):
    os.kill(os.getpid(), signal.SIGUSR1); time.sleep(0)
    return original(*arguments)
trace.take_batch = interrupted
def stop(*arguments): raise TimeoutError("the job's own")
class Stop:
    def __call__(self, number, frame): stop()
def reset(number, frame):
    signal.signal(number, signal.SIG_IGN); stop()
class Limit:
    def end(self, number, frame, reason="time"): stop()
def with_errno(number, frame): raise TimeoutError(62, "Timer expired")
signal.signal(signal.SIGUSR1, HANDLER)
try: train(loader(5))
except TimeoutError: sys.exit(3)
"""
CLIENT = f"sys.path.insert(0, {str(PYTHON_CLIENT)!r}); import trainscope\n"


class Exceptions(FakeTorchCase):
    def test_those_of_any_signal_handler_reach_the_job(self):
        for handler in ("functools.partial(stop, 1)", "Stop()", "reset", "lambda *arguments: stop()", "Limit().end",
                        "functools.partial(Limit().end, reason='alarm')", "with_errno"):
            with self.subTest(handler=handler):
                self.sent(INTERRUPTED.replace("HANDLER", handler), code=3)

    def test_those_of_a_handler_in_what_we_call_reach_the_job(self):
        """The size of a batch, the query of an event, the end of the pipe."""
        interrupt = "os.kill(os.getpid(), signal.SIGUSR1); time.sleep(0)"
        for planted in (f"""
class Batch:
    @property
    def shape(self): {interrupt}
torch.Tensor = lambda *arguments: Batch()
def loader(count): return torch.utils.data.DataLoader([Batch()] * count)
def train(loader):
    for batch in loader: torch.optim.SGD().step()
""", f"""
torch.cuda.dry[:] = [True] * 20
def query(self): {interrupt}
torch.cuda.Event.query = query
""", f"""
pipe = sys.modules["_trainscope_instrument._pipe"]
def write(*arguments): {interrupt}
pipe._write_without_signal = write
def loader(count): return torch.utils.data.DataLoader(time.sleep(0.1) or [torch.Tensor()] for _ in range(count))
"""):
            with self.subTest(planted=planted):
                self.sent("import os, signal\n" + planted + """
def handler(*arguments): raise TimeoutError(62, "Timer expired")
signal.signal(signal.SIGUSR1, handler)
try: train(loader(10))
except TimeoutError: sys.exit(3)
""", code=3)

    def test_one_that_another_thread_raises_reaches_the_job(self):
        self.sent("""
import ctypes, _thread
class Limit(Exception): pass
trace = sys.modules["_trainscope_instrument.trace"].Trace
original = trace.take_batch
def interrupted(*arguments):
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(_thread.get_ident()), ctypes.py_object(Limit))
    for _ in range(100): pass
interrupted.__globals__["__name__"] = "_trainscope_instrument.planted"
trace.take_batch = interrupted
try: train(loader(5))
except Limit: sys.exit(3)
""", code=3)

    def test_ours_do_not_even_if_what_we_call_raises_them(self):
        """A batch that cannot say how large it is."""
        lines = self.sent("""
class Batch:
    @property
    def shape(self): raise TimeoutError("of the batch")
for batch in torch.utils.data.DataLoader([Batch()] * 5): torch.Tensor().backward(); torch.optim.SGD().step()
""")
        self.assert_steps(lines, 5)


class Workers(FakeTorchCase):
    def test_one_that_saves_its_samples_sends_nothing(self):
        lines = self.sent("""
torch.save(1, "model.pt")
worker = []
torch.utils.data.get_worker_info = lambda: worker[0] if worker else None
torch.save(2, "model.pt")
worker.append("info")
for i in range(20): torch.save(i, "sample.pt")
""")
        self.assertEqual(len(lines.starting("begin checkpoint", "phase checkpoint")), 2, lines.all)


class KeptBatches(FakeTorchCase):
    def test_the_iterator_of_the_only_batch_is_kept(self):
        for count in (2, 20, 60, 500):
            with self.subTest(count=count):
                lines = self.sent(f"""
iterator, optimizer = iter(loader(5)), torch.optim.SGD()
batch = next(iterator)
for _ in range({count}): torch.Tensor().backward(); optimizer.step()
""")
                self.assert_steps(lines, count)
                self.assertEqual({step["updates"] for step in lines.steps()}, {1})
                self.assertEqual(len(lines.phase_s("input")), 1)

    def test_a_loop_that_is_left_after_the_first_batch(self):
        lines = self.sent("""
def fit(optimizer):
    for batch in loader(5):
        for _ in range(20): torch.Tensor().backward(); optimizer.step()
        break
fit(torch.optim.SGD())
fit(torch.optim.SGD())
""")
        self.assert_steps(lines, 40)

    def test_two_optimizers_and_one_batch(self):
        lines = self.sent("""
iterator, both = iter(loader(5)), [torch.optim.SGD(), torch.optim.SGD()]
batch = next(iterator)
for _ in range(60):
    for optimizer in both: torch.Tensor().backward(); optimizer.step()
""")
        self.assert_steps(lines, 60)
        self.assertEqual({step["updates"] for step in lines.steps()}, {2})

    def test_many_updates_with_each_batch_are_one_step(self):
        """After the first batch it may be either."""
        for updates in (5, 40):
            with self.subTest(updates=updates):
                lines = self.sent(f"""
optimizer = torch.optim.SGD()
for batch in loader(10):
    for _ in range({updates}): torch.Tensor().backward(); optimizer.step()
""")
                self.assert_steps(lines, 10 if updates < 32 else 9 + updates)

    def test_after_training_between_bursts(self):
        lines = self.sent("""
assert train(loader(3000, 0.0003)) == 3000
iterator, optimizer = iter(loader(5)), torch.optim.SGD()
batch = next(iterator)
for _ in range(100): torch.Tensor().backward(); optimizer.step()
""")
        self.assert_steps(lines, 3100)

    def test_reading_again_after_it(self):
        lines = self.sent("""
iterator, optimizer = iter(loader(50)), torch.optim.SGD()
batch = next(iterator)
for _ in range(50): optimizer.step()
assert train(iterator, optimizer) == 49
""")
        self.assert_steps(lines, 99)


class UnseenUpdates(FakeTorchCase):
    COMPILE = "import torch._dynamo.eval_frame; torch._dynamo.eval_frame.OptimizeContext()\n"
    UNSEEN = "for batch in loader(100): torch.Tensor().backward(); torch.optim.SGD().unhooked_step()\n"

    def test_after_a_pass_over_the_data(self):
        """Nothing is known of the batches before anything was compiled."""
        lines = self.sent("for batch in loader(70): pass\n" + self.COMPILE + self.UNSEEN)
        self.assert_steps(lines, 100)

    def test_a_graph_after_steps_that_were_seen(self):
        """They warm up what is then captured."""
        for wait in ("0", "0.0003"):
            lines = self.sent(f"""
train(loader(1000, {wait}))
graph = torch.cuda.CUDAGraph(); graph.capture_begin()
for batch in loader(500, {wait}): graph.replay()
""")
            self.assert_steps(lines, 1500)

    def test_a_compiler_that_cannot_be_hidden_from(self):
        lines = self.sent("import torch._dynamo.eval_frame; del torch._dynamo.eval_frame.skip_code\n" + self.COMPILE +
                          "train(loader(10))")
        self.assert_steps(lines, 10)
        self.assertFalse(any("stopped" in mark for mark in lines.marks()), lines.marks())
        self.assertTrue(any("not attached: skip_code" in mark for mark in lines.marks()), lines.marks())

    def test_no_event_once_graphs_are_captured(self):
        """A query of any thread destroys the capture of another one."""
        lines = self.sent("""
torch.cuda.dry[:] = [True] * 20
optimizer = torch.optim.SGD()
for i, batch in enumerate(loader(8)):
    if i == 3: torch.cuda.CUDAGraph().capture_begin(); torch.cuda.calls.clear()
    optimizer.step()
print(torch.cuda.calls)
""")
        self.assertEqual(self.job.stdout, b"[]\n")
        self.assertEqual([step.get("dry") for step in lines.steps()], [None, 1, 1, 1] + 4 * [None])
        self.assertTrue(any("device events (the job captures CUDA graphs)" in mark for mark in lines.marks()), lines.marks())


class Threads(FakeTorchCase):
    # 3,000 steps of 0.3 ms cannot all be timed.
    TRAIN = """
hooks = sys.modules["_trainscope_instrument.torch_hooks"].hooks
seen = set()
for batch in loader(3000, 0.0003): torch.Tensor().backward(); optimizer.step(); seen.add(bool(hooks.fast))
assert True in seen, "every step is detailed"
"""

    def test_one_that_read_once_and_ended(self):
        lines = self.sent("""
import threading
reader = threading.Thread(target=lambda: next(iter(loader(5))))
reader.start(); reader.join()
optimizer = torch.optim.SGD()
""" + self.TRAIN)
        self.assert_steps(lines, 3000)

    def test_one_that_reads_and_goes_on(self):
        lines = self.sent("""
import threading
sys.modules["_trainscope_instrument.trace"]._TRIAL_NS = 100000000
is_over = threading.Event()
def read():
    for batch in loader(10**9, 0.01):
        if is_over.is_set(): break
reader = threading.Thread(target=read, name="reader", daemon=True)
reader.start()
optimizer = torch.optim.SGD()
""" + self.TRAIN + "is_over.set(); reader.join()")
        self.assert_steps(lines, 3000)

    def test_one_that_begins_while_a_batch_is_only_noted(self):
        """Then the hooks are arranged anew in the middle of __next__."""
        lines = self.sent("""
import threading
hooks = sys.modules["_trainscope_instrument.torch_hooks"].hooks
begun = []
def batches():
    for _ in range(1500):
        time.sleep(0.0003)
        if hooks.fast and not begun:
            begun.append(threading.Thread(target=lambda: next(iter(loader(5)))))
            begun[0].start(); begun[0].join()
        yield [torch.Tensor()]
train(torch.utils.data.DataLoader(batches()))
assert begun, "every step is detailed"
""")
        self.assert_steps(lines, 1500)
        self.assertFalse([mark for mark in lines.marks() if "stopped" in mark])

    def test_those_that_follow_each_other_have_their_own_names(self):
        """Python gives the ident of one that has ended to the next."""
        lines = self.sent("""
import os, threading
train(loader(5))
for name in ("first", "second", "third"):
    thread = threading.Thread(target=train, args=(loader(4),), name=name)
    thread.start(); thread.join()
print(os.getpid())
assert len(sys.modules["_trainscope_instrument.session"].session.logs) == 2
""")
        process = self.job.stdout.decode().strip()
        self.assertEqual(lines.senders(), {None} | {f"{process}.{name}" for name in ("first", "second", "third")})
        for name in ("first", "second", "third"):
            self.assert_steps(lines, 4, who=f"{process}.{name}")


class Communication(FakeTorchCase):
    MODEL = """
from torch.nn.parallel.distributed import DistributedDataParallel
def train(loader, model, every=1):
    optimizer = torch.optim.SGD()
    for i, batch in enumerate(loader):
        model.forward(); torch.Tensor().backward()
        if (i + 1) % every == 0: optimizer.step()
"""

    def test_is_a_phase_of_each_step_while_training_goes_on(self):
        lines = self.sent(self.MODEL + """
model = DistributedDataParallel()
batches = iter(loader(10**9))
def some(count): return (next(batches) for _ in range(count))
train(some(90), model)
model.waited_ns = 9000000
train(some(60), model); time.sleep(1.1)
train(some(20), model); time.sleep(0.3); train(some(20), model)
__import__("os")._exit(0)
""")
        phases = lines.phase_s("communication")
        self.assertGreaterEqual(len(phases), 150)
        self.assertEqual(phases[0], 0.003)
        self.assertGreater(phases[-1], 0.003)

    def test_of_several_iterations_in_a_step(self):
        for batches in ("loader(80)", "[1] * 80"):
            lines = self.sent(self.MODEL + f"train({batches}, DistributedDataParallel(), every=4)")
            self.assertEqual(set(lines.phase_s("communication")), {0.012})
            self.assertEqual(len(lines.phase_s("communication")), len(lines.steps()))

    def test_is_unknown_where_ddp_times_nothing(self):
        lines = self.sent(self.MODEL + """
DistributedDataParallel._get_ddp_logging_data = lambda self: {}
train(loader(20), DistributedDataParallel())
""")
        self.assertEqual(lines.phase_s("communication"), [])
        self.assert_steps(lines, 20)

    def test_a_version_that_has_no_log(self):
        lines = self.sent(self.MODEL + """
del DistributedDataParallel._get_ddp_logging_data
train(loader(20), DistributedDataParallel())
""")
        self.assert_steps(lines, 20)
        self.assertTrue(any("not attached: communication" in mark for mark in lines.marks()), lines.marks())


class Runs(FakeTorchCase):
    def test_a_run_inside_of_a_run_that_did_not_ask_for_it(self):
        """It has the stub of the outer run in its path, and its own pipe."""
        os.makedirs(self.path("outer"))
        outer = install(self.path("outer/instrument"))
        self.startup = outer
        lines = self.sent_by(sys.executable, MODEL + "train(loader(4))", python_path=FAKES)
        self.assertEqual(lines.all, [])

    def test_one_that_did_ask_for_it(self):
        os.makedirs(self.path("outer"))
        outer = install(self.path("outer/instrument"))
        lines = self.sent_by(sys.executable, MODEL + "train(loader(4))", python_path=outer + ":" + FAKES)
        self.assert_steps(lines, 4)


class Client(FakeTorchCase):
    """A job that has loaded our client, which may still report steps."""

    def test_a_job_that_reports_no_steps_and_is_killed(self):
        lines = self.sent(CLIENT + """
trainscope.mark("hello"); train(loader(20, 0.05)); time.sleep(0.3); train(loader(1)); __import__("os")._exit(0)
""")
        self.assertEqual(lines.steps(), [])
        steps = lines.steps("instrument")
        self.assertGreaterEqual(len(steps), 15)
        self.assertEqual([step["number"] for step in steps], list(range(1, len(steps) + 1)))
        self.assertGreaterEqual(len(lines.phase_s("input", "instrument")), 15)

    def test_a_job_that_reports_no_steps_and_ends(self):
        lines = self.sent(CLIENT + "trainscope.mark('hello'); train(loader(20, 0.05))")
        self.assert_steps(lines, 20)
        self.assertEqual(len(lines.phase_s("input")), 20)

    def test_a_job_that_reports_its_steps(self):
        lines = self.sent(CLIENT + """
for i, batch in enumerate(loader(20, 0.05)):
    torch.optim.SGD().step()
    if i > 9: trainscope.step(i)
""")
        self.assertEqual(lines.starting("step"), [f"step {i}" for i in range(10, 20)])

    def test_phases_that_both_report(self):
        lines = self.sent(CLIENT + """
for batch in loader(20, 0.05):
    with trainscope.phase("forward"): pass
    torch.Tensor().backward(); torch.optim.SGD().step()
time.sleep(0.3); train(loader(1)); __import__("os")._exit(0)
""")
        self.assertEqual(len(lines.starting("begin forward", "phase forward")), 20)
        self.assertGreaterEqual(len(lines.phase_s("forward", "instrument")), 15)


if __name__ == "__main__":
    main()
