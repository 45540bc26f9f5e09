"""What a probe changes in which steps: pairs of neighbouring blocks of equal length, one of them changed.

Which of the two comes first is a hash of the job's name and of the number of the pair's first step, so that all ranks
decide alike without a message. The things to change take turns, pair by pair.
"""
import hashlib
import math

INPUT, HOST, PROCESSORS = "input", "host", "processors"
FIRST_STEP = 16  # The steps before are the job's warm-up.
SHORTEST_BLOCK = 10
SHORTEST_BLOCK_NS = 200000000
TIMES_DISCARDED = 5  # A block is at least so many times as long as what it discards.
# As wide as an interval may be (on either side) for more pairs to be of no use, and the fewest pairs for that.
_NARROW = {INPUT: 0.02, HOST: 0.008, PROCESSORS: 0.03}
_FEWEST_PAIRS = 8
_MOST_UNSETTLED = 4
_MARGIN = 1.25


def is_first_changed(key, step):
    return bool(hashlib.sha256(("%s %d" % (key, step)).encode()).digest()[0] & 1)


class Block:
    """Steps `first` to `last`. `kept_from_ns` is None until the job has settled."""
    __slots__ = ("what", "is_changed", "pair", "first", "last", "discarded", "begun_ns", "settles", "kept_from_ns",
                 "slept_ns", "time_ns", "replaced", "is_spoiled")

    def __init__(self, what, is_changed, pair, first, length, now):
        self.what, self.is_changed, self.pair = what, is_changed, pair
        self.first, self.last = first, first + length - 1
        self.begun_ns = now
        self.kept_from_ns = None
        self.settles = self.is_spoiled = False  # settles: the next step is the last that is discarded
        self.discarded = self.slept_ns = self.time_ns = self.replaced = 0

    def changes(self, what):
        return self.is_changed and self.what == what

    def length(self):
        return self.last - self.first + 1

    def is_long_enough(self):
        return (self.kept_from_ns is not None and not self.is_spoiled
                and self.length() >= TIMES_DISCARDED * self.discarded)

    def mean_ns(self):
        return self.time_ns / float(self.length() - self.discarded)


class Plan:
    def __init__(self, key, ranks, experiments):
        self.key, self.ranks = key, ranks
        self.experiments = list(experiments)
        self.lengths = dict.fromkeys(experiments, SHORTEST_BLOCK)
        self.pairs = 0
        self._place = 0  # in the pair
        self._what = None
        self._first_changed = False
        self._before = None  # the first block of the pair
        self._logs = {what: [] for what in experiments}  # log ratios of pairs
        self._unsettled = dict.fromkeys(experiments, 0)  # blocks in a row in which the job did not settle

    def set_lengths(self, steps, step_ns):
        """At least so many steps. Ranks cannot agree on a time, so with several only the number counts."""
        if self.ranks == 1:
            steps = max(steps, int(math.ceil(SHORTEST_BLOCK_NS / step_ns)))
        for what, length in self.lengths.items():
            self.lengths[what] = max(length, steps)

    def is_between_pairs(self):
        return self._place == 0

    def next_block(self, first, now):
        """None if nothing is left to be found out."""
        if self._place == 0:
            open_ones = [what for what in self.experiments if self.ranks > 1 or not self.is_narrow(what)]
            if not open_ones:
                return None
            self.pairs += 1
            self._what = open_ones[self.pairs % len(open_ones)]
            self._first_changed = is_first_changed(self.key, first)
            self._before = None
        is_changed = self._first_changed != bool(self._place)
        self._place = 1 - self._place
        return Block(self._what, is_changed, self.pairs, first, self.lengths[self._what], now)

    def end_block(self, block):
        """The block has ended. If it was too short, later ones are longer and its pair is given up. True if this is
        tried no more: the job has never settled."""
        if not block.is_long_enough():
            return self.ranks == 1 and self._give_up_pair(block)
        self._unsettled[block.what] = 0
        if self._before is None:
            self._before = block
        elif self._before.pair == block.pair:
            changed, usual = (block, self._before) if block.is_changed else (self._before, block)
            if usual.time_ns > 0 and changed.time_ns > 0:
                self._logs[block.what].append(math.log(changed.mean_ns() / usual.mean_ns()))
        return False

    def _give_up_pair(self, block):
        self._place = 0
        if block.is_spoiled:
            return False
        if block.kept_from_ns is not None:  # with a margin: not every drain takes the same number of steps
            self.lengths[block.what] = int(_MARGIN * TIMES_DISCARDED * block.discarded)
            return False
        self.lengths[block.what] = 2 * block.length()
        self._unsettled[block.what] += 1
        if self._unsettled[block.what] < _MOST_UNSETTLED:
            return False
        self.experiments.remove(block.what)
        return True

    def is_narrow(self, what):
        """Roughly; the recorded steps decide in the end. By the median deviation: a stall must not prolong a probe."""
        logs = sorted(self._logs[what])
        if len(logs) < _FEWEST_PAIRS:
            return False
        middle = logs[len(logs) // 2]
        deviation = 1.48 * sorted(abs(one - middle) for one in logs)[len(logs) // 2]
        return 2.4 * deviation / math.sqrt(len(logs)) <= _NARROW[what]
