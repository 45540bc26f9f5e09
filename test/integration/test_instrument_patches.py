"""The module of `run --instrument` where a job replaces what it has replaced, or imports in its own way, on a fake PyTorch: what
the job put there stays there, whatever ours does. And what of ours is in place between bursts."""
import sys

from instrumented_job import FAKES, MODEL, FakeTorchCase
from trainscope_test import main

# Of every pass; steps of 0.3 ms are timed in bursts.
COUNTED_BACKWARD = """
calls = [0]
def counted(original):
    def backward(*arguments, **keywords):
        calls[0] += 1
        return original(*arguments, **keywords)
    return backward
torch.autograd.backward = counted(torch.autograd.backward)
train(loader(2000, 0.0003))
print(calls[0], torch.autograd.backward.__name__, torch.autograd.backward.__module__)
"""


class Patches(FakeTorchCase):
    def test_a_backward_of_the_job_stays_in_bursts_and_between_them(self):
        lines = self.sent(COUNTED_BACKWARD)
        self.assertEqual(self.job.stdout.decode(), "2000 backward __main__\n")
        self.assert_steps(lines, 2000)
        self.assertTrue(any("bursts" in mark for mark in lines.marks()), lines.marks())

    def test_one_that_the_job_takes_away_again(self):
        lines = self.sent("""
own = torch.autograd.backward
""" + COUNTED_BACKWARD + """
torch.autograd.backward = own
train(loader(5))
hooks = sys.modules["_trainscope_instrument.torch_hooks"].hooks
def is_ours(is_timed):
    hooks.traces[0].budget.is_timed = is_timed
    hooks.arrange()
    return torch.autograd.backward is (hooks.backward if is_timed else hooks.original_backward)
print(calls[0], is_ours(False), is_ours(True))
""")
        self.assertEqual(self.job.stdout.decode().splitlines()[1], "2000 True True")
        self.assert_steps(lines, 2005)

    def test_patches_of_the_job_outlive_an_exception_of_ours(self):
        lines = self.sent("""
trace = sys.modules["_trainscope_instrument.trace"].Trace
def broken(*arguments): raise KeyError("planted")
iterators = torch.utils.data.dataloader._BaseDataLoaderIter
for owner, name in ((torch.autograd, "backward"), (torch.serialization, "save"), (iterators, "__next__")):
    def patched(*arguments, original=getattr(owner, name)): return original(*arguments)
    setattr(owner, name, patched)
train(loader(5))
trace.take_batch = broken
assert train(loader(5)) == 5
torch.save(1, "m.pt")
print(torch.autograd.backward.__name__, torch.serialization.save.__name__, iterators.__next__.__name__)
""")
        self.assertTrue(any(mark.startswith("instrumentation stopped") for mark in lines.marks()), lines.marks())
        self.assertEqual(self.job.stdout.decode(), "patched patched patched\n")
        self.assertEqual(self.job.stderr, b"")


class BetweenBursts(FakeTorchCase):
    def test_two_functions_of_ours_are_entered_per_step(self):
        """What a step costs there is how many places are entered."""
        self.sent("""
hooks = sys.modules["_trainscope_instrument.torch_hooks"].hooks
batches, optimizer, entered = iter(loader(10**6)), torch.optim.SGD(), []
def step(): next(batches); torch.Tensor().backward(); optimizer.step()
def note(frame, event, argument):
    if event == "call" and frame.f_globals["__name__"].startswith("_trainscope"): entered.append(frame.f_code.co_name)
while not hooks.fast: step()
hooks.set_next(hooks.fast, 1 << 62)  # Neither a burst nor a flush is due.
step()
sys.setprofile(note); step(); step(); sys.setprofile(None)
print(entered)
""")
        self.assertEqual(self.job.stdout.decode(), "['__next__', 'note_update', '__next__', 'note_update']\n")


    def test_a_batch_that_is_half_noted_when_a_signal_handler_raises(self):
        """A profiler raises in its place, after each of the three values."""
        lines = self.sent("""
hooks = sys.modules["_trainscope_instrument.torch_hooks"].hooks
batches, optimizer, steps = iter(loader(10**6)), torch.optim.SGD(), 0
def step():
    global steps
    next(batches); torch.Tensor().backward(); optimizer.step()
    steps += 1
def interrupt(frame, event, called):
    global seen
    if event == "c_return" and called.__name__ == "append" and frame.f_code.co_name == "__next__":
        seen += 1
        if seen == stop_at: raise TimeoutError("of the job")
for stop_at in (1, 2, 3):
    while not hooks.fast: step()
    hooks.set_next(hooks.fast, 1 << 62)
    step(); step()
    seen = 0
    sys.setprofile(interrupt)
    try: step()
    except TimeoutError: print("raised", seen)
    finally: sys.setprofile(None)
    for _ in range(5): step()
    hooks.set_next(hooks.fast, 0)
step()
print(steps)
""")
        self.assertEqual(self.job.stdout.decode().split("\n")[:3], ["raised 1", "raised 2", "raised 3"])
        self.assert_steps(lines, int(self.job.stdout.split()[-1]))
        self.assertFalse([mark for mark in lines.marks() if "stopped" in mark])


class Files(FakeTorchCase):
    def test_a_job_that_closes_all_of_its_files_gets_nothing_into_its_own(self):
        lines = self.sent("""
import os
own = sys.modules["_trainscope_instrument.session"].session
assert train(loader(20)) == 20
own.log().flush()
os.closerange(3, 64)
files = [open("own%d" % i, "wb") for i in range(8)]
assert train(loader(20)) == 20
own.log().flush()
print(sum(os.path.getsize(file.name) for file in files))
""")
        self.assertEqual(self.job.stdout, b"0\n")
        self.assert_steps(lines, 40)


class Importers(FakeTorchCase):
    def imported(self, importer):
        """What a job prints that imports torch in this way, with the module and without it."""
        source = importer + MODEL + "print(train(loader(3)), [name for name in found if name.startswith('torch')])\n"
        with_it = self.run_job(sys.executable, source, python_path=FAKES)
        bare = self.run_job(sys.executable, source, python_path=FAKES, is_bare=True)
        self.assertEqual((with_it.stdout, with_it.stderr), (bare.stdout, bare.stderr))
        return bare.stdout

    def test_a_finder_that_asks_the_others_as_ours_does(self):
        """Before and after ours: neither asks the other for good, and each module is found once."""
        for place in ("0", "len(sys.meta_path)"):
            with self.subTest(place=place):
                self.imported("""
import sys
found = []
class Finder:
    def find_spec(self, name, path=None, target=None):
        for other in sys.meta_path:
            spec = other.find_spec(name, path, target) if other is not self else None
            if spec is not None:
                found.append(name)
                return spec
sys.meta_path.insert(%s, Finder())
""" % place)

    def test_loaders_that_cannot_be_changed(self):
        for loader in ("class Loader", "class Loader(metaclass=Fixed)", "class Loader(tuple)"):
            with self.subTest(loader=loader):
                self.imported("""
import importlib.machinery, importlib.util, sys
found = []
class Fixed(type):
    def __setattr__(self, name, value): raise AttributeError("fixed")
%s:
    @staticmethod
    def create_module(spec): return None
    @staticmethod
    def exec_module(module):
        found.append(module.__name__)
        loader = importlib.machinery.SourceFileLoader(module.__name__, module.__spec__.origin)
        exec(loader.get_code(module.__name__), vars(module))
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "torch.autograd": return None
        origin = importlib.machinery.PathFinder.find_spec(name, path).origin
        return importlib.util.spec_from_loader(name, Loader, origin=origin, is_package=True)
sys.meta_path.insert(1, Finder)
""" % loader)


if __name__ == "__main__":
    main()
