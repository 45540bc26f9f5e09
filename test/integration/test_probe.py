"""`probe` inside the job: what is changed in which steps, and what is discarded. That everything is put back:
test_probe_lease.py."""
import json
import re

from probed_job import DEVICE, ProbedCase
from trainscope_test import main


class Input(ProbedCase):
    """A job whose loader takes 10 ms for each batch, and which computes for 6 ms, unless stated otherwise."""

    def test_one_process_loads_and_computes(self):
        blocks = self.probed("train(Data(2000, 10), 1, 6)")
        self.assert_ratio(blocks, "input", 6 / 16)

    def test_a_queue_of_workers_is_drained_first(self):
        for workers, queue in ((1, 2), (1, 8), (4, 2)):
            blocks = self.probed(f"train(Data(12000, {10 * workers}, {workers}, {queue}), 1, 6)")
            self.assert_ratio(blocks, "input", 0.6, 0.02)
            after = [block for block in blocks if block.what == "input" and not block.is_changed]
            drained = [block.discarded for block in after if block.discarded > 2]
            self.assertTrue(drained)
            self.assertGreaterEqual(max(drained), workers * queue)
            for block in (one for one in blocks if one.what == "input"):
                self.assertGreaterEqual(block.last - block.first + 1, 5 * workers * queue)

    def test_blocks_have_whole_turns_of_workers_that_give_their_batches_together(self):
        """Four batches arrive every 560 ms: a block of any other length has one wait too many or too few."""
        blocks = self.probed("train(Data(9000, 560, 4, 2), 1, 9)")
        self.assert_ratio(blocks, "input", 9 / 140, 0.001)
        self.assertTrue(self.ratios(blocks, "host"))
        for ratio in self.ratios(blocks, "host"):
            self.assertAlmostEqual(ratio, 1, delta=0.02)  # less than half of the sleep

    def test_waits_that_vary_are_not_a_queue(self):
        """One batch in eight takes long, and nothing is prefetched: there is nothing to drain."""
        blocks = self.probed("""
make = lambda i: (spend(0 if i % 8 else 30), {"x": torch.Tensor(i)})[1]
train(Data(3000, 2, make=make), 1, 20)""")
        for block in blocks:
            self.assertLessEqual(block.discarded, 5)
            self.assertLessEqual(block.last - block.first + 1, 20)

    def test_the_time_to_hand_out_a_batch_again_is_reported(self):
        blocks = self.probed("""
copied = torch.Tensor.clone
torch.Tensor.clone = lambda self: (spend(2), copied(self))[1]
train(Data(2000, 20), 1, 6, lambda step, batch: batch["x"].add_(1))""")
        changed = [block for block in blocks if block.what == "input" and block.is_changed]
        self.assertTrue(changed)
        for block in changed:
            self.assertAlmostEqual(block.given_s / (block.last - block.first + 1), 0.002, delta=1e-6)
        self.assertEqual({block.given_s for block in blocks if block not in changed}, {0})

    def test_large_batches_are_not_all_kept(self):
        """Also those of which copies are kept."""
        self.probed("""
import _trainscope_instrument.probe_torch as module
torch.Tensor.numel = lambda self: 50 << 20
most = []
def each(step, batch):
    most.extend(len(batches) for _, batches in module._steps.batches.values())
    batch["x"].add_(1)
train(Data(1000, 20), 1, 6, each)
print(max(most))""")
        self.assertEqual(self.job.stdout.strip(), b"1")
        self.assertTrue(any("what=input changed=1" in mark for mark in self.marks()), self.marks())

    def test_a_short_job_is_not_over_in_one_block(self):
        """Steps without waits are 40 times as short: as many as take 200 ms would be all that the job has left."""
        blocks = self.probed("train(Data(1000, 27), 1, 0.7)")
        self.assert_ratio(blocks, "input", 0.7 / 27.7, 0.001)
        self.assertLess(max(block.last - block.first for block in blocks), 50)

    def test_a_wait_that_is_hidden_does_not_limit(self):
        blocks = self.probed("train(Data(2000, 10, 4, 2), 1, 12)")
        self.assert_ratio(blocks, "input", 1)

    def test_no_wait_at_all(self):
        self.assert_ratio(self.probed("train(Data(1500, 0), 1, 10)"), "input", 1)

    def test_an_epoch_keeps_its_number_of_batches(self):
        self.probed("import json; print(json.dumps(train(Data(70, 10, 2, 2), 20, 6)))")
        self.assertEqual(json.loads(self.job.stdout), [70] * 20)
        self.assertTrue(any("what=input changed=1" in mark for mark in self.marks()), self.marks())

    def test_an_epoch_that_has_ended_gets_no_other_batch(self):
        """Blocks begin at any place of so short epochs, also right after the last batch."""
        self.probed("import json; print(json.dumps(train(Data(7, 10), 500, 6)))")
        self.assertEqual(json.loads(self.job.stdout), [7] * 500)
        self.assertTrue(any("what=input changed=1" in mark for mark in self.marks()), self.marks())

    def test_a_job_may_make_a_dataset_for_each_epoch(self):
        """None of them is kept alive."""
        blocks = self.probed("""
import gc, weakref
alive = weakref.WeakSet()
def dataset():
    data = Data(50, 10)
    alive.add(data)
    return data
for epoch in range(40):
    train(dataset(), 1, 6)
gc.collect()
print(len(alive))""")
        self.assertGreater(max(block.last for block in blocks if block.what == "input"), 600)
        self.assert_ratio(blocks, "input", 6 / 16)  # Blocks in which one begins do not count.
        self.assertFalse([mark for mark in self.marks() if "cannot input" in mark])
        self.assertLessEqual(int(self.job.stdout), 1)

    def test_datasets_whose_batches_are_modified_in_place(self):
        """That batches have to be copied is true of the next dataset as well, and would spoil a block of each otherwise."""
        blocks = self.probed("""
for epoch in range(60):
    train(Data(50, 10), 1, 6, lambda step, batch: batch["x"].add_(1))""")
        self.assert_ratio(blocks, "input", 6 / 16)

    def test_epochs_of_five_steps(self):
        self.assert_ratio(self.probed("train(Data(5, 10), 400, 6)"), "input", 6 / 16)

    def test_a_changed_block_in_which_steps_wait_does_not_count(self):
        """The first batch of a dataset is read, which is one in five here: the effect would seem to be 0.50."""
        blocks = self.probed("for epoch in range(800): train(Data(5, 10), 1, 6)")
        self.assertEqual(self.ratios(blocks, "input"), [])
        self.assertGreaterEqual(len(self.ratios(blocks, "host")), 6)
        self.assertTrue(any("probe cannot input: too many steps had to read" in mark for mark in self.marks()), self.marks())

    TWO_LOADERS = """
class Endless(Data):
    __len__ = None
optimizer = torch.optim.SGD()
for step, (one, other) in enumerate(zip(torch.utils.data.DataLoader(Data(1500, 5)), torch.utils.data.DataLoader(%s))):
    spend(6)
    optimizer.step()
"""

    def test_two_loaders_are_both_replaced(self):
        self.assert_ratio(self.probed(self.TWO_LOADERS % "Data(1500, 5)"), "input", 6 / 16)

    def test_one_of_two_loaders_without_a_length_is_enough(self):
        """Whichever is read last: its wait is part of each step."""
        for job in (self.TWO_LOADERS % "Endless(1500, 5)",
                    (self.TWO_LOADERS % "Data(1500, 5)").replace("DataLoader(Data(1500, 5)), ", "DataLoader(Endless(1500, 5)), ")):
            blocks = self.probed(job)
            self.assertEqual(self.ratios(blocks, "input"), [])
            self.assertTrue(any("probe cannot input: the data loader has no length" in mark for mark in self.marks()))

    def test_many_loaders_that_are_read_in_turn(self):
        blocks = self.probed("""
optimizer = torch.optim.SGD()
loaders = [iter(torch.utils.data.DataLoader(Data(300, 10))) for _ in range(12)]
for step in range(3000):
    batch = next(loaders[step % 12])
    spend(6)
    optimizer.step()""")
        self.assert_ratio(blocks, "input", 6 / 16)

    def test_a_loader_without_a_length_is_left_alone(self):
        blocks = self.probed("""
class Endless(Data):
    __len__ = None
train(Endless(600, 10), 1, 6)""")
        self.assertEqual({block.what for block in blocks} - {"host", "processors"}, set())
        self.assertTrue(any("probe cannot input: the data loader has no length" in mark for mark in self.marks()))

    def test_batches_are_those_of_before_and_as_they_were(self):
        """The job takes things out of its batches and modifies tensors in place, from the middle on."""
        self.probed("""
seen = []
def each(step, batch):
    assert set(batch) == {"x", "y"}, batch
    x, y = batch.pop("x"), batch.pop("y")
    assert x.value == int(x.value) and y == [x.value], (x.value, y)
    seen.append(x.value)
    if step > 300:
        x.add_(0.5)
        y.append(1)
make = lambda i: {"x": torch.Tensor(i), "y": [i]}
train(Data(1500, 10, make=make), 1, 6, each)
early, late = seen[:300], seen[700:]
for part in (early, late):
    assert len(set(part)) < len(part), part
print(sum(b == a + 1 for a, b in zip(seen, seen[1:])))""")
        self.assertGreater(int(self.job.stdout), 500)
        self.assertFalse([mark for mark in self.marks() if "stopped" in mark])

    def test_batches_keep_their_types(self):
        """Containers of the job's own have attributes, which a plain list or tuple would lack, and state of their own."""
        self.probed("""
from collections import UserDict
class Boxes(list):
    scale = 0
class Pair(tuple):
    scale = 0
class Record:
    "Has items, and keeps them where a shallow copy shares them."
    def __init__(self, **items): self._items = items
    def keys(self): return self._items.keys()
    def items(self): return self._items.items()
    def __getitem__(self, key): return self._items[key]
    def __setitem__(self, key, value): self._items[key] = value
    def pop(self, key): return self._items.pop(key)
def make(i):
    boxes, pair = Boxes([torch.Tensor(i)]), Pair((torch.Tensor(i), 1))
    boxes.scale = pair.scale = 2
    return {"boxes": boxes, "pair": pair, "record": Record(x=torch.Tensor(i)), "user": UserDict(x=i)}
seen = []
def each(step, batch):
    assert batch["boxes"].scale == batch["pair"].scale == 2
    x = batch["record"].pop("x").value
    assert batch["boxes"][0].value == batch["pair"][0].value == batch["user"].pop("x") == x
    seen.append(x)
train(Data(900, 10, make=make), 1, 6, each)
print(len(seen) - len(set(seen)))""")
        self.assertGreater(int(self.job.stdout), 100)  # were handed out again
        self.assertFalse([mark for mark in self.marks() if "stopped" in mark])

    def test_evaluation_gets_its_own_batches(self):
        self.probed("""
values = []
def evaluate():
    with torch.no_grad():
        values.append([batch["x"].value for batch in torch.utils.data.DataLoader(Data(5, 1))])
train(Data(900, 10), 1, 6, lambda step, batch: step % 7 or evaluate())
assert values and all(one == [0, 1, 2, 3, 4] for one in values), values""")

    def test_accumulation(self):
        """A step of four batches is changed as a whole."""
        blocks = self.probed("train(Data(4000, 10), 1, 6, batches=4)")
        self.assert_ratio(blocks, "input", 6 / 16, pairs=3)


class Time(ProbedCase):
    """Of a probe of two minutes, ten seconds of which are over when the job begins."""
    SECOND_NS = 1000000000

    def probed_for(self, seconds, source):
        self.write_lease(self.supervisor.pid, until_ns=(1 + seconds - 10) * self.SECOND_NS,
                         for_ns=seconds * self.SECOND_NS)
        return self.probed(source)

    def suggested(self):
        """{what: minutes} that were stated last."""
        found = (re.match(r"probe cannot (\S+): steps of .* try --for (\d+)m", mark) for mark in self.marks())
        return {match[1]: int(match[2]) for match in found if match}

    def test_slow_steps_have_enough_pairs(self):
        blocks = self.probed_for(120, "train(Data(20000, 140, 1, 2), 1, 10)")
        self.assert_ratio(blocks, "input", 10 / 140, pairs=8)

    def test_steps_that_are_too_slow_for_all_of_it(self):
        """What the time is enough for is done, and the time that is stated is enough for the rest."""
        job = "train(Data(20000, 700, 1, 2), 1, 50)"
        blocks = self.probed_for(120, job)
        self.assertGreaterEqual(len(self.ratios(blocks, "host")), 6)
        self.assertIn("input", self.suggested())
        minutes = max(self.suggested().values())
        self.assertGreater(minutes, 2)
        blocks = self.probed_for(60 * minutes, job)
        for what in ("input", "host"):
            self.assertGreaterEqual(len(self.ratios(blocks, what)), 8, (what, minutes, self.marks()))
        self.assert_ratio(blocks, "input", 50 / 700, pairs=8)


class Device(ProbedCase):
    """A sleep of the host is hidden while the device has queued work, wherever the job waits for it."""
    WAITS = ("never", "copy", "loss", "item")

    def test_a_device_that_limits(self):
        for waits in self.WAITS:
            blocks = self.probed(DEVICE + f"train_on_device({waits!r}, 2, 10)")
            self.assert_ratio(blocks, "host", 1, 0.002)
            self.assert_ratio(blocks, "input", 1)

    def test_launches_that_limit(self):
        for waits in self.WAITS:
            blocks = self.probed(DEVICE + f"train_on_device({waits!r}, 10, 2)")
            slept = sum(block.slept_s for block in blocks if block.what == "host")
            self.assertGreater(slept, 0)
            ratios = self.ratios(blocks, "host")
            self.assertGreater(min(ratios), 1.03, (waits, ratios))

    def test_the_device_is_only_waited_for_where_a_block_begins_and_ends(self):
        self.probed(DEVICE + """
calls = []
torch.cuda.synchronize = lambda: (calls.append(_now[0]), device.wait())
train_on_device("never", 2, 10)
print(len(calls))""")
        blocks = sum("what=" in mark for mark in self.marks())
        self.assertLessEqual(int(self.job.stdout), 2 + 2 * (blocks + 1))


class Host(ProbedCase):
    def test_steps_of_a_critical_host_grow_by_the_time_slept(self):
        blocks = self.probed("train(Data(2000, 0), 1, 10)")
        self.assert_ratio(blocks, "host", 1.05, 0.001)
        changed = [block for block in blocks if block.what == "host" and block.is_changed]
        for block in changed:
            self.assertAlmostEqual(block.slept_s / (block.last - block.first + 1), 0.0005, delta=2e-5)

    def test_a_sleep_during_a_wait_is_hidden(self):
        """Two workers give their batches together, so a block may have one wait more than the other."""
        self.assert_ratio(self.probed("train(Data(3000, 20, 2, 2), 1, 6)"), "host", 1, 0.015)

    NOISE = """
import random
noise, level = random.Random(15), [0.0]
def each(step, batch):
    if step % 20 == 0:
        level[0] = noise.uniform(0, 2)
    spend(level[0])
"""

    def test_a_sleep_that_cannot_be_told_from_noise_is_lengthened(self):
        """Steps take 10 to 12 ms, in turns of 20 steps."""
        blocks = self.probed(self.NOISE + "train(Data(12000, 0), 1, 10, each)")
        changed = [block for block in blocks if block.what == "host" and block.is_changed]
        self.assertEqual([block.sleep_share for block in changed[:7]], [0.05] * 6 + [0.2])
        self.assert_ratio([block for block in blocks if block.sleep_share == 0.2], "host", 1.2, 0.02)

    def test_a_sleep_that_shows_stays_short(self):
        blocks = self.probed("train(Data(9000, 0), 1, 10)")
        self.assertEqual({block.sleep_share for block in blocks if block.what == "host"}, {0.05})

    def test_what_is_not_clear_gets_the_time(self):
        blocks = self.probed(self.NOISE + "train(Data(12000, 0), 1, 10, each)")
        pairs = {what: len(self.ratios(blocks, what)) for what in ("input", "host")}
        self.assertGreater(pairs["host"], 1.5 * pairs["input"], pairs)

    def test_steps_without_a_loader(self):
        blocks = self.probed("""
optimizer = torch.optim.SGD()
for _ in range(1500):
    spend(10)
    optimizer.step()""")
        self.assert_ratio(blocks, "host", 1.05, 0.001)
        self.assertTrue(any("probe cannot input: the thread that trains" in mark for mark in self.marks()))


class Ranks(ProbedCase):
    JOB = """
replaced, last = [], [-1]
def each(step, batch):
    if batch["x"].value != last[0] + 1:
        replaced.append(step)
    last[0] = batch["x"].value
train(Data(1500, float(sys.argv[1]), 2, 2), 1, 6, each)
print(replaced)"""

    def test_ranks_switch_together(self):
        """However long their own steps take, and whoever started them: mpirun in a batch script of Slurm leaves SLURM_PROCID."""
        for rank_of, size_of, more in (("RANK", "WORLD_SIZE", {}),
                                       ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"SLURM_PROCID": "0"})):
            seen = []
            for rank, load in ((0, 20), (1, 14)):
                blocks = self.probed(self.JOB, load, **{rank_of: str(rank), size_of: "2"}, **more)
                self.assertEqual(bool(blocks), rank == 0)  # One of them reports.
                seen.append(set(json.loads(self.job.stdout)))
            self.assertTrue(seen[0])
            self.assertEqual(seen[0], seen[1])

    def test_the_input_of_ranks_has_its_effect(self):
        """Steps without waits are short, so that many of them pass until the queue is full; then it has to drain."""
        for workers, queue, load, compute in ((1, 2, 24, 8), (2, 2, 48, 6), (4, 2, 56, 9), (1, 2, 20, 2)):
            with self.subTest(workers=workers, queue=queue, load=load, compute=compute):
                blocks = self.probed(f"train(Data(12000, {load}, {workers}, {queue}), 1, {compute})", RANK="0", WORLD_SIZE="2")
                self.assert_ratio(blocks, "input", compute * workers / load, 0.03, pairs=6)
                self.assertGreaterEqual(len(self.ratios(blocks, "host")), 6)
                for block in (one for one in blocks if one.what == "input"):
                    self.assertGreaterEqual(block.last - block.first + 1, 4 * block.discarded)

    def test_another_job_has_another_schedule(self):
        orders = []
        for key in ("slurm-1.0", "slurm-2.0"):
            self.write_lease(self.supervisor.pid, key=key)
            orders.append([block.is_changed for block in self.probed("train(Data(1500, 0), 1, 10)")])
        self.assertNotEqual(*orders)

    def test_a_probe_that_knows_enough_ends(self):
        self.probed("train(Data(9000, 10), 1, 6)")
        self.assertTrue(any(mark.startswith("probe finished") for mark in self.marks()))


if __name__ == "__main__":
    main()
