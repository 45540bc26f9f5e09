"""`probe` puts back what it changes inside the job: when a block ends, training pauses, Trainscope is killed or ours fails."""
import json
import os
import unittest

from probed_job import CPUS, KILL_SUPERVISOR, ProbedCase
from trainscope_test import LONG, main

NEEDS_CPUS = unittest.skipIf(len(CPUS) < 2, "this process may use one CPU only")


class Processors(ProbedCase):
    SEEN = """
import json
halved = set()
def each(step, batch):
    cpus, threads = len(os.sched_getaffinity(0)), torch.get_num_threads()
    halved.add((cpus, threads))
"""

    @NEEDS_CPUS
    def test_affinity_and_threads_are_lowered_and_put_back(self):
        self.probed(self.SEEN + """
train(Data(1200, 0), 1, 10, each)
print(json.dumps([sorted(halved), len(os.sched_getaffinity(0)), torch.get_num_threads()]))""")
        halved, cpus, threads = json.loads(self.job.stdout)
        self.assertEqual(halved, [[len(CPUS) // 2, 4], [len(CPUS), 8]])
        self.assertTrue(all(" threads=1 " in mark for mark in self.marks() if "what=" in mark), self.marks())
        self.assertEqual((cpus, threads), (len(CPUS), 8))

    @NEEDS_CPUS
    def test_all_threads_and_children_are_put_back(self):
        """Also those that began while the processors were halved."""
        self.probed(self.SEEN + """
import multiprocessing, threading
started = []
def each(step, batch):
    if len(os.sched_getaffinity(0)) < CPUS and not started:
        event = threading.Event()
        thread = threading.Thread(target=event.wait)
        thread.start()
        child = multiprocessing.get_context("fork").Process(target=sleep_really, args=(60,))
        child.start()
        started.extend((event, thread, child))
CPUS = len(os.sched_getaffinity(0))
train(Data(1200, 0), 1, 10, each)
event, thread, child = started
print([len(os.sched_getaffinity(one)) for one in (0, thread.native_id, child.pid)])
event.set()
child.kill()""")
        self.assertEqual(json.loads(self.job.stdout), [len(CPUS)] * 3)

    @NEEDS_CPUS
    def test_what_the_job_sets_itself_stays(self):
        self.probed(self.SEEN + """
def each(step, batch):
    if torch.get_num_threads() == 4 and not halved:
        halved.add(step)
        torch.set_num_threads(2)
train(Data(1200, 0), 1, 10, each)
print(torch.get_num_threads())""")
        self.assertEqual(self.job.stdout.strip(), b"2")

    @NEEDS_CPUS
    def test_an_evaluation_has_all_of_them(self):
        self.probed("""
seen = set()
def evaluate():
    with torch.no_grad():
        for batch in torch.utils.data.DataLoader(Data(2, 1)):
            seen.add((len(os.sched_getaffinity(0)), torch.get_num_threads()))
train(Data(1200, 0), 1, 10, lambda step, batch: step % 3 or evaluate())
print(list(map(list, seen)))""")
        self.assertEqual(json.loads(self.job.stdout), [[len(CPUS), 8]])


    @NEEDS_CPUS
    def test_a_loop_that_is_left_has_all_of_them(self):
        """What follows may take long, without a step or a batch at which the lease would be checked."""
        self.probed("""
cpus, seen = len(os.sched_getaffinity(0)), []
optimizer = torch.optim.SGD()
for batch in torch.utils.data.DataLoader(Data(3000, 0)):
    spend(10)
    optimizer.step()
    if len(os.sched_getaffinity(0)) < cpus:
        seen.append(torch.get_num_threads())
        break
print([seen, len(os.sched_getaffinity(0)), torch.get_num_threads()])""")
        self.assertEqual(json.loads(self.job.stdout), [[4], len(CPUS), 8])


class Lease(ProbedCase):
    def test_killed_at_any_moment_nothing_stays_changed(self):
        for moment in range(0, 1000, 20 if LONG else 83):
            with self.subTest(moment=moment):
                supervisor = self.start_supervisor()
                self.write_lease(supervisor.pid)
                self.probed(KILL_SUPERVISOR + """
values = []
def each(step, batch):
    values.append(batch["x"].value)
    if step == int(sys.argv[1]):
        kill_supervisor(int(sys.argv[2]))
    if step > int(sys.argv[1]):
        assert torch.get_num_threads() == 8, step
        assert len(os.sched_getaffinity(0)) == CPUS, step
CPUS = len(os.sched_getaffinity(0))
began = _now[0]
counts = train(Data(300, 4, 2, 2), 4, 6, each)
assert counts == [300] * 4, counts
after = values[int(sys.argv[1]) + 1:]
epoch = after[:299 - int(sys.argv[1]) % 300]
assert all(b == a + 1 for a, b in zip(epoch, epoch[1:])), epoch
assert values[-300:] == list(range(300)) or int(sys.argv[1]) >= 900, values[-300:]
""", moment, supervisor.pid)
                self.assertFalse([mark for mark in self.marks() if "stopped" in mark])

    def test_killed_between_two_epochs(self):
        """The first batch of the next one is the loader's own already, and so are the processors."""
        for what in ("input", "processors") if len(CPUS) > 1 else ("input",):
            supervisor = self.start_supervisor()
            self.write_lease(supervisor.pid)
            self.probed(KILL_SUPERVISOR + """
import _trainscope_instrument.probe_torch as module
cpus = len(os.sched_getaffinity(0))
data = Data(7, 10)
for epoch in range(300):
    train(data, 1, 6)
    block = module.probe.block
    if block is not None and block.changes(sys.argv[1]) and block.kept_from_ns is not None:
        break
kill_supervisor(int(sys.argv[2]))
seen = []
train(data, 1, 6, lambda step, batch: seen.append((batch["x"].value, len(os.sched_getaffinity(0)))))
assert seen == [(i, cpus) for i in range(7)], seen
print(epoch)""", what, supervisor.pid)
            self.assertLess(int(self.job.stdout), 299)

    def test_nothing_is_changed_without_a_supervisor(self):
        self.supervisor.kill()
        self.supervisor.wait()
        self.assertEqual(self.probed("train(Data(300, 10), 1, 6)"), [])

    def test_nothing_is_changed_when_the_time_is_over(self):
        self.write_lease(self.supervisor.pid, until_ns=1000000000 + 3000000000)
        self.probed("""
values = []
def each(step, batch):
    values.append((_now[0], batch["x"].value))
train(Data(1000, 10), 1, 6, each)
late = [value for time_ns, value in values if time_ns > 4100000000]
assert all(b == a + 1 for a, b in zip(late, late[1:]))""")
        self.assertTrue(self.marks())

    def test_a_run_that_is_no_probe_changes_nothing(self):
        os.unlink(self.path("instrument/probe"))
        self.probed("""
values = []
train(Data(500, 10), 1, 6, lambda step, batch: values.append(batch["x"].value))
assert values == list(range(500))""")
        self.assertEqual(self.marks(), [])

    def test_our_own_failure_ends_the_probe(self):
        self.probed("""
import _trainscope_instrument.probe_torch as module
def fail(*arguments):
    raise ValueError("ours")
def each(step, batch):
    if step == 100:
        module.probe.note_wait = fail
counts = train(Data(300, 10), 2, 6, each)
assert counts == [300, 300], counts
assert torch.get_num_threads() == 8""")
        self.assertTrue(any("stopped in a batch: ValueError: ours" in mark for mark in self.marks()), self.marks())

    def test_nothing_is_changed_once_the_instrumentation_has_failed(self):
        self.probed("""
import _trainscope_instrument.probe_torch as module
from _trainscope_instrument.session import session
values = []
def each(step, batch):
    values.append(batch["x"].value)
    if step == 300:
        session.failed("a test", ValueError("ours"))
train(Data(2000, 10), 1, 6, each)
late = values[302:]
assert all(b == a + 1 for a, b in zip(late, late[1:])), late
assert module.probe.is_off and torch.get_num_threads() == 8
print(len(set(values[:300])) < 300)""")
        self.assertEqual(self.job.stdout.strip(), b"True")

    def test_our_own_failure_at_the_end_of_an_epoch_ends_the_probe(self):
        self.probed("""
import _trainscope_instrument.probe_torch as module
def fail(*arguments):
    raise ValueError("ours")
module.probe.pause = fail
counts = train(Data(100, 10), 3, 6)
assert counts == [100, 100, 100], counts""")
        self.assertTrue(any("stopped in the end of a data loader: ValueError" in mark for mark in self.marks()), self.marks())


if __name__ == "__main__":
    main()
