"""An experiment inside the job: in random blocks of steps one thing is changed and changed back (docs/adr/0020).

The hooks of a framework report the end of each step and each wait for data; this decides what is changed in the next
one. Blocks are reported as marks when they end: from when on they count, and how many steps were discarded before.
Guarantees: everything is put back when the lease lapses, which is checked at each step and each batch, when our code fails,
and when the process ends. One thread takes part: the one that trains.
"""
import _thread
import os
import time
from collections import deque

from . import _pipe
from ._pipe import now_ns
from .probe_changes import Processors
from .probe_lease import lease
from .probe_plan import FIRST_STEP, HOST, INPUT, PROCESSORS, SHORTEST_BLOCK, TIMES_DISCARDED, Plan, shortest_block
from .session import pass_on_if_of_job, session

_STALL = 4  # A step that takes so many times as long as usual is an interruption and counts as so many.
_FELT_WAIT = 0.02  # of a step; shorter waits for data do not matter
_WEIGHT, _WEIGHT_OF_BLOCK = 1.0 / 16, 0.25
_MOST_DRAIN_STEPS = 500  # for a queue of unknown length
_UNSETTLED_STEPS = 64  # So many steps more than the queue has places for: the job does not settle.
_MOST_TIMES_USUAL = 4  # as many steps: a job that waits for nothing would be over in one block
_MOST_WAITS = 0.02  # of the steps of a block without waits
_MOST_RESTARTS = 3
_SUGGESTED = 1.2  # times as long as all experiments seem to need


class Probe:
    def __init__(self, held):
        self.lease = held
        self.is_off = False
        self.thread = None  # that trains
        self.source = None  # "keras" if fit() reports the steps, whatever computes them
        self.number = 0
        self.block = None
        self.plan = None
        self.step_ns = None  # of usual steps, recently
        self.capacity = 0  # of the loader's queue, in batches
        self.workers = None  # that fill it; None: unknown
        self.input_reason = "no data loader is known"  # why batches cannot be replaced; "": they can
        self.drop_batches = None  # a function that forgets kept batches
        self.has_device = False
        self.processors = Processors()
        self._waits = deque(maxlen=64)  # for data, of usual steps
        self._last_ns = None
        self._owes_drain = False  # batches were replaced: the queue is fuller than usual
        self._drain_steps = self._long_waits = 0  # since then
        self._first_long_wait = 0  # steps before it
        self._drained_steps = 0  # that the last drain took
        self._steps_before = 0  # that were discarded before the next block
        self._replaced_ns = 0  # when that began in this block
        self._timed_from_ns = 0  # second half of the steps before the first block
        self._suggested = {}  # experiment: minutes that were suggested, because the time is too short for it
        self._is_reporter = None
        session.at_exit(self.stop)
        session.after_fork(self._forget)

    def _forget(self):
        """In a forked process, which takes no part before it trains itself."""
        self.processors.restore_forked()
        self.block, self.thread, self._is_reporter = None, None, None

    def is_training_thread(self):
        return self.thread is None or self.thread == _thread.get_ident()

    def end_step(self, now):
        """A step has ended; what follows belongs to the next one."""
        if self.is_off:
            return
        if session.is_off or not self.lease.is_held(now):  # off: steps are not recorded any more
            self.stop()
            return
        self.number += 1
        last, self._last_ns = self._last_ns, now
        if last is None:
            return
        self._take_step(now, now - last)
        if self.number == FIRST_STEP // 2:
            self._timed_from_ns = now
        if self.block is not None and self._has_ended(self.block):
            self._end_block(now)
        self._drain_steps += 1
        if self.block is None and self.number >= FIRST_STEP and not self._is_draining(now):
            self._begin_block(now)

    def note_wait(self, wait_ns):
        """The job has waited so long for a batch that was not replaced."""
        block = self.block
        if self._owes_drain:
            if wait_ns >= self._long_wait_ns():
                self._first_long_wait = self._first_long_wait if self._long_waits else self._drain_steps
                self._long_waits += 1
        elif block is None and self.number >= FIRST_STEP // 2 or block is not None and not block.is_changed:
            self._waits.append(wait_ns)
        if block is not None and block.changes(INPUT) and block.kept_from_ns is not None:
            self._note_wait_without_change(block)

    def _note_wait_without_change(self, block):
        """There was no batch to hand out again: the first of a dataset, for example. With many such steps the block would
        not show what steps take without waits."""
        block.waited += 1
        if block.waited <= _MOST_WAITS * block.kept():
            return
        if self.plan.ranks == 1 and block.restarts < _MOST_RESTARTS:
            block.restart(self.number + 1)
        else:
            block.is_spoiled = True

    def note_replaced(self, given_ns=0):
        """A batch was handed out again, which has taken so long."""
        if not self.block.replaced:
            self._replaced_ns = now_ns()
        self.block.replaced += 1
        if self.block.kept_from_ns is not None:
            self.block.given_ns += given_ns

    def wants_batch(self):
        return self.block is not None and self.block.changes(INPUT)

    def wants_device_idle(self):
        """Whether the step that is about to end is the last before something is timed, or the last that is."""
        block = self.block
        if block is None:
            return self.plan is None and self.number + 1 in (FIRST_STEP // 2, FIRST_STEP)
        return block.settles and block.kept_from_ns is None or self.number + 1 == block.last

    def sleep(self):
        """Once in each step, where the device has most to do that was queued before."""
        block = self.block
        if block is None or not block.changes(HOST):
            return
        began = now_ns()
        time.sleep(block.sleep_share * self.step_ns / 1e9)
        if block.kept_from_ns is not None:
            block.slept_ns += now_ns() - began

    def pause(self):
        """Training pauses: whoever computes now is not part of a block."""
        self.processors.restore()
        if not self.is_off and not self.lease.is_held(now_ns()):
            self.stop()

    def resume(self):
        """Before each batch, which may be the first one after a pause."""
        if self.block is None or not self.block.is_changed:
            return
        if not self.lease.is_held(now_ns()):
            self.stop()
        elif self.block.changes(PROCESSORS):
            self.processors.halve()

    def stop(self):
        """Everything is as it was, for the rest of the process."""
        self.is_off, self.block = True, None
        self.processors.restore()
        if self.drop_batches is not None:
            self.drop_batches()

    def fail(self, where, error):
        """Our own exception ends the probe; one of the job's is passed on."""
        try:
            self.stop()
            session.mark("probe stopped in %s: %s: %s" % (where, type(error).__name__, error))
        finally:
            pass_on_if_of_job(error)

    def _take_step(self, now, duration_ns):
        block = self.block
        if self.step_ns is None:
            self.step_ns = float(duration_ns)
        counted = min(duration_ns, _STALL * self.step_ns)
        is_usual = not self._owes_drain if block is None else not block.is_changed and block.kept_from_ns is not None
        if is_usual and not self._is_timed_by_blocks():
            self.step_ns += _WEIGHT * (counted - self.step_ns)
        if block is None:
            return
        if block.kept_from_ns is not None:
            block.time_ns += counted
            return
        block.discarded += 1
        if block.settles:
            self._begin_to_keep(block, now, duration_ns)
        else:
            block.settles = self._has_settled(block, now)

    def _is_timed_by_blocks(self):
        """A host that runs ahead of the device, and workers that give their batches together, make most steps short and
        some long; a block as a whole takes what it takes."""
        return self.has_device or (self.workers or 0) > 1

    def _take_block(self, block, now):
        block.time_ns = min(now - block.kept_from_ns, _STALL * self.step_ns * block.kept())
        if not block.is_changed:
            self.step_ns += _WEIGHT_OF_BLOCK * (block.mean_ns() - self.step_ns)

    def _begin_to_keep(self, block, now, duration_ns):
        block.kept_from_ns, block.cpu_ns, block.queued_ns = now, time.process_time_ns(), _queued_ns()
        if block.last is not None:
            return
        usual = shortest_block(self.step_ns)
        if block.changes(INPUT):  # Its steps may be shorter than usual ones.
            discarded, shortest = block.discarded, shortest_block(min(duration_ns, self.step_ns))
            shortest = min(shortest, _MOST_TIMES_USUAL * usual)
        else:
            discarded, shortest = self._queued_steps() if block.what == INPUT else 0, usual
        block.last = self.number + self._whole_turns(max(TIMES_DISCARDED * discarded, shortest))

    def _whole_turns(self, steps):
        """Workers that began together give their batches together: one step in as many waits for all of them. A block has
        whole turns of the workers, or it would have one wait too many or too few, and so many that the place in a turn
        at which it begins does not matter."""
        turn = self.workers if self.workers and self._are_waits_felt() else 1
        return turn * max(SHORTEST_BLOCK, -(-steps // turn)) if turn > 1 else steps

    def _has_ended(self, block):
        if block.is_spoiled and self.plan.ranks == 1:
            return True
        if block.last is not None:
            return self.number >= block.last
        return block.discarded > self._most_unsettled_steps() and not block.replaced

    def _most_unsettled_steps(self):
        return _UNSETTLED_STEPS + 4 * self.capacity if self.capacity else _MOST_DRAIN_STEPS

    def _has_settled(self, block, now):
        if block.changes(INPUT):
            is_full = now - self._replaced_ns >= self._refill_ns()
            return bool(block.replaced) and (is_full or block.has_to_settle())
        return self._has_drained()

    def _has_drained(self):
        """Whether waits for data are as long as usual again."""
        if self._owes_drain and self._are_waits_felt():
            if self._long_waits < 2:
                return False
            self._drained_steps = self._first_long_wait
        self._owes_drain = False
        return True

    def _is_draining(self, now):
        """Steps in which the queue drains belong to no block, so that only blocks of replaced input have to be long.
        Ranks could not agree on them."""
        if self.plan is None or self.plan.ranks > 1 or not self._owes_drain:
            return False
        if self._has_drained():
            self._steps_before = self._drain_steps - 1
            return False
        if self._drain_steps <= self._most_unsettled_steps():
            return True
        self._learn_waits_again()
        self._give_up(self.plan.give_up_pair(INPUT), INPUT, now)
        return False

    def _learn_waits_again(self):
        """Waits are not what they were."""
        self._owes_drain = False
        self._waits.clear()

    def _are_waits_felt(self):
        return bool(self._waits) and sum(self._waits) > _FELT_WAIT * self.step_ns * len(self._waits)

    def _long_wait_ns(self):
        """Half of a usual wait. Without workers all waits are usual; of those that give their batches together one wait in
        as many is."""
        waits = sorted(self._waits)
        share = 0.5 if self.workers == 0 else max(0.9, 1 - 0.5 / (self.workers or 1))
        return waits[int(len(waits) * share)] / 2 if waits else 0

    def _most_queued(self):
        """In steps, roughly: what is in the queue and in the hands of workers, and two waits that show that it is empty."""
        return max(2, 2 * self.capacity, self.capacity + (self.workers or 0) + 3)

    def _queued_steps(self):
        """As many as a full queue lasts for; 0 if nobody waits for it."""
        return (self._drained_steps or self.capacity) if self._are_waits_felt() else 0

    def _refill_ns(self):
        """How long the workers fill the queue once nobody reads from it; without workers nobody does."""
        if self.workers == 0:
            return 0
        return max(self._queued_steps(), self.capacity if self._are_waits_felt() else 0) * self.step_ns

    def _begin_block(self, now):
        if self.plan is None:
            self._make_plan()
        self.block = block = self.plan.next_block(self.number + 1, now, self.lease.left_ns(now))
        self._suggest_time(now)
        if block is None:
            self._report("probe finished", now)
            self.stop()
            return
        block.drained, self._steps_before = self._steps_before, 0
        block.settles = not block.changes(INPUT) and not self._owes_drain
        if block.changes(PROCESSORS):
            self.processors.halve()

    def _make_plan(self):
        if self._is_timed_by_blocks():
            self.step_ns = (self._last_ns - self._timed_from_ns) / float(FIRST_STEP - FIRST_STEP // 2)
        impossible = {INPUT: self.input_reason,
                      PROCESSORS: "" if Processors.can_halve() else "the job may use one processor only"}
        for what, reason in impossible.items():
            if reason:
                self._report("probe cannot %s: %s" % (what, reason), now_ns())
        ranks = max(self.lease.ranks, _world_size())
        self.plan = Plan(self.lease.key, ranks, [what for what in (INPUT, HOST, PROCESSORS) if not impossible.get(what)],
                         None if ranks == 1 else TIMES_DISCARDED * self._most_queued())
        for what in self.plan.experiments:  # roughly, until a pair was measured
            drained = self.capacity + 1 if what == INPUT and self._are_waits_felt() else 0
            shortest = self._whole_turns(shortest_block(self.step_ns))
            steps = max(2 * (1 + shortest), 5 + 2 * (1 + TIMES_DISCARDED) * drained)
            self.plan.cost_ns[what] = steps * self.step_ns

    def _suggest_time(self, now):
        """States how long a probe would have to be for what this one has no time for."""
        if not self.plan.too_long or not self.lease.for_ns:
            return
        needed_ns = self.lease.for_ns - self.lease.left_ns(now) + _SUGGESTED * self.plan.needed_ns()
        minutes = int(needed_ns // 60000000000) + 1
        for what in self.plan.too_long:
            if self._suggested.get(what) != minutes:
                self._suggested[what] = minutes
                self._report("probe cannot %s: steps of %.2g s are too long for it in this time: try --for %dm" % (
                    what, self.step_ns / 1e9, minutes), now)

    def _give_up(self, is_given_up, what, now, is_spoiled=False):
        if is_given_up:
            reason = "the job did not settle after it was changed"
            if is_spoiled:
                reason = self.input_reason or ("too many steps had to read a batch of which none could be handed out again, "
                                               "such as the first of a dataset")
            self._report("probe cannot %s: %s" % (what, reason), now)

    def _end_block(self, now):
        block, self.block = self.block, None
        self.processors.restore()
        if block.last is None:
            block.last = self.number
        if self._is_timed_by_blocks() and block.kept_from_ns is not None:
            self._take_block(block, now)
        if block.replaced:
            self._owes_drain, self._drain_steps, self._long_waits = True, 0, 0
        elif block.kept_from_ns is None and self._owes_drain:
            self._learn_waits_again()
        self._give_up(self.plan.end_block(block), block.what, now, block.is_spoiled)
        if block.is_long_enough():
            self._report("probe what=%s changed=%d pair=%d steps=%d-%d discarded=%d duration=%.9f slept=%.9f sleep=%g "
                         "given=%.9f cpu=%.9f queued=%.9f device=%d threads=%d" % (
                block.what, block.is_changed, block.pair, block.first + block.discarded, block.last,
                block.drained + block.discarded, (now - block.kept_from_ns) / 1e9, block.slept_ns / 1e9,
                block.sleep_share, block.given_ns / 1e9, (time.process_time_ns() - block.cpu_ns) / 1e9,
                (_queued_ns() - block.queued_ns) / 1e9, self.has_device, self.processors.lowers_threads()), now)

    def _report(self, text, now):
        """Of one rank: the others change the same things in the same steps."""
        if self._is_reporter is None:
            self._is_reporter = not _pipe._identity(os.getpid())
        if self._is_reporter:
            session.mark(text, now)


def _queued_ns():
    """How long this thread was ready to run but had to wait for a processor; 0 where the kernel does not count it."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            return int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _world_size():
    """As the launcher that started this process states it."""
    largest = 1
    for variable in ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE"):
        size = os.environ.get(variable, "")
        if size.isdecimal():
            largest = max(largest, int(size))
    return largest


probe = Probe(lease) if lease is not None else None
