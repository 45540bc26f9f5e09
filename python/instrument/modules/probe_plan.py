"""What a probe changes in which steps: pairs of neighbouring blocks, one of them changed.

Which of the two comes first is a hash of the job's name and of the number of the pair's first step, so that all ranks
decide alike without a message. The things to change take turns, pair by pair, as long as the time is enough for all
of them.
"""
import hashlib
import math

INPUT, HOST, PROCESSORS = "input", "host", "processors"
FIRST_STEP = 16  # The steps before are the job's warm-up.
SHORTEST_BLOCK = 5
SHORTEST_BLOCK_NS = 200000000
SLEEP_SHARE = 0.05  # of a step
LONG_SLEEP_SHARE = 0.2  # where the effect of a short sleep cannot be told from noise
TIMES_DISCARDED = 5  # A block is at least so many times as long as the queue takes to drain before it.
_LEAST_PAIRS = 6  # Fewer have no interval.
_FEWEST_PAIRS = 8  # of each experiment, if the time is enough
# As wide as an interval may be (on either side) for more pairs to be of no use.
_NARROW = {INPUT: 0.02, HOST: 0.008, PROCESSORS: 0.03}
# Steps that take less (of the input) or more than this are a limit: src/probe/probe.h.
_BOUNDS = {INPUT: 0.90, PROCESSORS: 1.10}
_CLEAR = 1.5  # An interval that is so many times as far from its bound as it is wide will stay on its side.
_MOST_UNSETTLED, _MOST_SPOILED = 4, 6  # blocks in a row
_LONGER = 3  # times as long are blocks of ranks in which a queue may drain slowly
_MOST_STEPS = 2000


def is_first_changed(key, step):
    return bool(hashlib.sha256(("%s %d" % (key, step)).encode()).digest()[0] & 1)


def shortest_block(step_ns):
    """In steps that take so long."""
    return min(_MOST_STEPS, max(SHORTEST_BLOCK, int(math.ceil(SHORTEST_BLOCK_NS / max(1.0, step_ns)))))


class Block:
    """Steps `first` to `last`; `last` is None until it is known. `kept_from_ns` is None until the job has settled."""
    __slots__ = ("what", "is_changed", "pair", "first", "last", "discarded", "drained", "settles", "kept_from_ns",
                 "slept_ns", "sleep_share", "given_ns", "time_ns", "cpu_ns", "queued_ns", "replaced", "waited", "restarts",
                 "is_spoiled")

    def __init__(self, what, is_changed, pair, first, length):
        self.what, self.is_changed, self.pair = what, is_changed, pair
        self.first, self.last = first, None if length is None else first + length - 1
        self.kept_from_ns = None
        self.settles = self.is_spoiled = False  # settles: the next step is the last that is discarded
        self.drained = 0  # steps that were discarded before the first one, while the queue drained
        self.discarded = self.slept_ns = self.given_ns = self.time_ns = self.cpu_ns = self.queued_ns = self.replaced = 0
        self.waited = self.restarts = 0  # waited: for batches that were not replaced, since the job has settled
        self.sleep_share = 0.0  # of a step, that was asked for

    def changes(self, what):
        return self.is_changed and self.what == what

    def has_to_settle(self):
        """Whether it would not be long enough otherwise: the length is given, and a fifth of it is over."""
        return self.last is not None and self.last - self.first + 1 < TIMES_DISCARDED * (self.discarded + 2)

    def is_long_enough(self):
        return (self.kept_from_ns is not None and not self.is_spoiled
                and self.last - self.first + 1 >= TIMES_DISCARDED * self.discarded)

    def restart(self, first):
        """At this step, as if the block began there."""
        self.drained += first - self.first
        self.first, self.last, self.kept_from_ns, self.settles = first, None, None, False
        self.discarded = self.given_ns = self.time_ns = self.waited = 0
        self.restarts += 1

    def kept(self):
        """Steps."""
        return self.last - self.first + 1 - self.discarded

    def mean_ns(self):
        return self.time_ns / float(self.kept())


class Plan:
    """`length`: of a block in steps, where ranks must agree on it; None: each block ends when it has enough steps. How
    many steps a queue takes to drain depends on times, which ranks cannot agree on: every second pair of the input is
    longer, and so is the pair after one that leaves a full queue."""

    def __init__(self, key, ranks, experiments, length=None):
        self.key, self.ranks, self.length = key, ranks, length
        self.experiments = list(experiments)
        self.pairs = 0
        self.sleep_share = SLEEP_SHARE
        self.cost_ns = dict.fromkeys(experiments, 0.0)  # of a pair
        self.too_long = []  # experiments that the time left is too short for
        self._begun = dict.fromkeys(experiments, 0)  # pairs
        self._begun_ns = 0  # when this pair did
        self._place = 0  # in the pair
        self._factor = 1  # times the length
        self._what = None
        self._first_changed = False
        self._before = None  # the first block of the pair
        self._logs = {what: [] for what in experiments}  # log ratios of pairs
        self._unsettled = dict.fromkeys(experiments, 0)  # blocks in a row in which the job did not settle
        self._spoiled = dict.fromkeys(experiments, 0)  # changed blocks in a row

    def next_block(self, first, now, left_ns):
        """None if nothing is left to be found out."""
        if self._place == 0:
            if self._what in self.experiments:
                self.cost_ns[self._what] = float(now - self._begun_ns)
            leaves_full = self._what == INPUT and not self._first_changed
            self._what = self._choose(left_ns)
            if self._what is None:
                return None
            self.pairs += 1
            self._begun[self._what] += 1
            is_longer = leaves_full or self._what == INPUT and self._begun[INPUT] % 2 == 0
            self._factor = _LONGER if is_longer else 1
            self._begun_ns = now
            self._first_changed = is_first_changed(self.key, first)
            self._before = None
        is_changed = self._first_changed != bool(self._place)
        self._place = 1 - self._place
        length = None if self.length is None else self.length * self._factor
        block = Block(self._what, is_changed, self.pairs, first, length)
        block.sleep_share = self.sleep_share if self._what == HOST else 0.0
        return block

    def _choose(self, left_ns):
        """The one with the fewest pairs among those that the time is enough for, first of those that are not clear yet. If
        it is not enough for all, the first ones get it: they matter most."""
        self._lengthen_sleep(left_ns)
        open_ones = [what for what in self.experiments if self.ranks > 1 or not self.is_narrow(what)]
        affordable = []
        for what in open_ones:
            needed_ns = self._needed_ns(what, _LEAST_PAIRS)
            if self.ranks > 1 or needed_ns <= left_ns:
                affordable.append(what)
                left_ns -= needed_ns
        self.too_long = [what for what in open_ones if what not in affordable]
        unclear = [what for what in affordable if self.ranks == 1 and not self.is_clear(what)]
        return min(unclear or affordable or open_ones[:1], key=self._begun.get, default=None)

    def _lengthen_sleep(self, left_ns):
        """If enough pairs do not show whether steps grow by the sleep. Pairs of the short one are not used any more. Ranks
        could not agree on this."""
        has_pairs = len(self._logs.get(HOST, ())) >= _LEAST_PAIRS
        if self.ranks > 1 or self.sleep_share != SLEEP_SHARE or not has_pairs or self.is_clear(HOST):
            return
        if _LEAST_PAIRS * self.cost_ns[HOST] <= left_ns:
            self.sleep_share = LONG_SLEEP_SHARE
            self._logs[HOST] = []
            self._begun[HOST] = 0

    def _needed_ns(self, what, pairs):
        return max(0, pairs - len(self._logs[what])) * self.cost_ns[what]

    def needed_ns(self):
        """The time that all experiments still need."""
        return sum(self._needed_ns(what, _FEWEST_PAIRS) for what in self.experiments)

    def end_block(self, block):
        """The block has ended. If it does not count, its pair is given up. True if this is tried no more: the job has
        never settled, or blocks were spoiled all the time."""
        if block.is_spoiled:
            return self._note_spoiled(block.what)
        if not block.is_long_enough():
            return self.ranks == 1 and self.give_up_pair(block.what)
        self._unsettled[block.what] = 0
        if block.is_changed:
            self._spoiled[block.what] = 0
        if self._before is None:
            self._before = block
        elif self._before.pair == block.pair:
            changed, usual = (block, self._before) if block.is_changed else (self._before, block)
            if usual.time_ns > 0 and changed.time_ns > 0:
                self._logs[block.what].append(math.log(changed.mean_ns() / usual.mean_ns()))
        return False

    def _note_spoiled(self, what):
        """True once there were too many. Ranks could not agree to try no more."""
        self._spoiled[what] += 1
        is_too_much = self._spoiled[what] == _MOST_SPOILED
        if self.ranks == 1:
            self._place = 0
            if is_too_much:
                self.experiments.remove(what)
        return is_too_much

    def give_up_pair(self, what):
        """True if this is tried no more: the job has never settled."""
        self._place = 0
        self._unsettled[what] += 1
        if self._unsettled[what] < _MOST_UNSETTLED or what not in self.experiments:
            return False
        self.experiments.remove(what)
        return True

    def is_narrow(self, what):
        return len(self._logs[what]) >= _FEWEST_PAIRS and self._interval(what)[1] <= _NARROW[what]

    def is_clear(self, what):
        """Whether the effect is on one side of its bound and will stay there."""
        middle, reach = self._interval(what)
        bound = _BOUNDS.get(what, 1 + self.sleep_share / 2)
        return abs(middle - math.log(bound)) > _CLEAR * reach

    def _interval(self, what):
        """The middle of the log ratios and how far the truth may be from it, roughly; the recorded steps decide in the
        end. By the median deviation: a stall must not prolong a probe."""
        logs = sorted(self._logs[what])
        if len(logs) < _LEAST_PAIRS:
            return 0.0, float("inf")
        middle = logs[len(logs) // 2]
        deviation = 1.48 * sorted(abs(one - middle) for one in logs)[len(logs) // 2]
        return middle, 2.4 * deviation / math.sqrt(len(logs))
