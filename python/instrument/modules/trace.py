"""The training of one thread: what is a step, and what the phases of its steps are.

A step ends when the next batch is asked for, or the iterator ends, after at least one update of an optimizer.
Without a data loader it ends with an update of an optimizer that has updated since the last step. So it does if
an iterator is kept but not read any more, which shows when one optimizer has updated many times since the last
batch. `forward` is the time from the end of the last known phase to the beginning of the backward pass.
"""
import weakref

from . import spans
from ._pipe import items_in, now_ns
from .budget import UNSEEN_NS_PER_CALL, Budget
from .session import FLUSH_NS, phase_text, session
from .spans import EVALUATION

SOURCE = "torch"
_ITEMS_NS = 1000000000
_MOST_EVENTS = 4000
FAST_NS = 10000  # of a batch that is only noted: assumed, see docs/benchmarks.md
NOTED = 3  # values of a batch that is only noted
# Making lines has a cost that does not depend on their number: noted steps that are long wait for more of their kind.
_NOTED_AT_ONCE = 200
_LONGEST_NOTED_NS = 500000000
# An accumulation is rarely longer. Where nothing but compiled code may update, batches count after so many.
_SILENT_BATCHES = 64
_ALIKE = 8  # So many noted batches are worth to be sent together.
# So many updates of one optimizer with the first batch of an iterator, or eight times as many with a later one, are
# steps: a job that trains on one batch may keep the iterator that gave it.
_REPEATS = 32
# A thread that reads batches is taken for one that trains at first, and no longer if it does not update.
_TRIAL_NS = 10000000000


class Trace:
    __slots__ = ("log", "hooks", "number", "batches", "updates", "budget", "is_waiting", "is_in_backward", "iterator",
                 "forward_ns", "backward_ns", "optimizer", "optimizer_ns", "updated_ns", "updated", "own_ns",
                 "evaluation_ns", "evaluated_ns", "evaluation_gap_ns", "items", "items_ns", "batch_size", "loss",
                 "loss_ns", "dry", "silent", "has_updated", "has_given_up", "counts_batches", "has_reported_bursts",
                 "iterator_batches", "left", "repeats", "begun_ns")

    def __init__(self, log, hooks):
        self.log, self.hooks = log, hooks
        self.number = self.batches = self.updates = self.own_ns = 0
        self.budget = Budget()
        self.is_waiting = self.is_in_backward = False
        self.iterator = None  # weak: of the loader that training reads from
        self.left = None  # weak: the one that was kept and not read any more
        self.forward_ns = self.backward_ns = self.optimizer_ns = self.updated_ns = 0
        self.optimizer = None  # the outermost that is in its step()
        self.iterator_batches = 0  # that it gave
        self.updated = set()  # optimizers that updated in this step, as it is without a loader
        self.repeats = []  # ends of the steps since the last batch, as they are without a loader, and their updates
        self.evaluation_ns = self.evaluated_ns = self.evaluation_gap_ns = 0
        self.items = self.batch_size = None
        self.items_ns = self.loss_ns = 0
        self.loss = self.dry = None
        self.silent = []  # ends of batches without an update, before the first one
        self.has_updated = self.counts_batches = self.has_reported_bursts = False
        self.has_given_up = False  # nothing is known of the steps of silent batches
        self.begun_ns = now_ns()

    def has_trained(self):
        return bool(self.number or self.updates or self.backward_ns)

    def may_train(self, now):
        return not self.log.has_ended() and (self.has_trained() or now - self.begun_ns < _TRIAL_NS)

    def expect_unseen_updates(self):
        """Something was compiled or replayed for the first time: silence before says nothing about what follows."""
        self.has_updated = self.has_given_up = False
        self.silent = []

    def take_batch(self, iterator, item, began, ended, has_gradients):
        """The loader gave a batch."""
        self.hooks.drain()
        if not has_gradients or spans.is_open(EVALUATION):
            self._take_evaluation_batch(began, ended)
        else:
            if self.evaluation_ns:
                self._end_evaluation(began)
            self._end_batch(began)
            if self.iterator is None or self.iterator() is not iterator:
                self.iterator = weakref.ref(iterator, self._iterator_is_gone)
                if self.left is None or self.left() is not iterator:
                    self.iterator_batches = 0
                self.items_ns = 0
                self.hooks.arrange()
            self.iterator_batches += 1
            self.batches += 1
            self.log.phase(b"input", began, ended)
            self.forward_ns = ended
            if self.budget.is_timed:
                self.dry = self.hooks.is_device_dry()
            if ended - self.items_ns > _ITEMS_NS:
                self.items_ns = ended
                self.items = items_in(item)
            if not self.budget.is_timed and not self.hooks.fast:
                self.hooks.arrange()
        self._flush_if_due(ended)
        self.own_ns += now_ns() - ended + UNSEEN_NS_PER_CALL

    def take_records(self, records):
        """Batches that __next__ noted between bursts: whether an optimizer had updated before, when each was requested,
        and when it came."""
        began_ns = now_ns()
        updated, requested, came = records[::NOTED], records[1::NOTED], records[2::NOTED]
        resume_ns = self.budget.resume_ns
        first = 0 if self._is_between_bursts() else 1  # The first one ends what a burst has begun.
        end = len(came) if requested[-1] < resume_ns else len(came) - 1  # With the last one another burst may begin.
        if end - first < _ALIKE or not all(updated) or requested[end - 1] >= resume_ns:
            self._take_noted(updated, requested, came)
        else:
            self._take_noted(updated[:first], requested[:first], came[:first])
            if self._may_send_alike():
                self._take_alike(requested[first:end], came[first:end])
                first = end
            self._take_noted(updated[first:], requested[first:], came[first:])
        self.forward_ns = came[-1]
        self._flush_if_due(came[-1])
        self.own_ns += now_ns() - began_ns

    def _take_noted(self, updated, requested, came):
        append = self.log.events.append
        for has_updated, began, ended in zip(updated, requested, came):
            self.own_ns += FAST_NS
            self.has_updated = self.has_updated or has_updated
            if has_updated or self.updates:
                self._end_step(began, 0 if self.updates else None)
            elif self.counts_batches:
                self._end_step(began, None)
            else:
                self._note_silence(began)
            self.batches += 1
            self.iterator_batches += 1
            append((ended, phase_text, (b"input", ended - began)))

    def _is_between_bursts(self):
        """The step that is being made is like those to come, and nothing waits to be sent."""
        return (self.batches == 1 and not self.updates and not self.log.events and not self.counts_batches and
                self.budget.is_between_bursts())

    def _may_send_alike(self):
        """Nothing differs from step to step but numbers, and nobody else reports them."""
        return (not self.budget.is_timed and self.hooks.communication is None and session.may_step(SOURCE) and
                not session.holds_steps(now_ns()) and not self.log.held and b"input" not in session.client_phases)

    def _take_alike(self, requested, came):
        """Each of these batches made a step; there may be thousands per second."""
        count, first = len(came), self.number + 1
        self.log.send_steps(first, requested, came)
        self.number += count
        self.iterator_batches += count
        self.budget.end_steps(requested[-1], count, self.own_ns + count * FAST_NS)
        self.own_ns = 0

    def due_ns(self):
        """When batches that are only noted must become lines: for a flush, or for the next burst."""
        wait_ns = max(FLUSH_NS, min(_NOTED_AT_ONCE * self.budget.recent_step_ns(), _LONGEST_NOTED_NS))
        return min(self.log.flushed_ns + wait_ns, self.budget.resume_ns)

    def is_evaluating(self):
        return self.evaluation_ns or spans.is_open(EVALUATION)

    def end_iterator(self, iterator, now, has_gradients):
        """The loader has no more batches."""
        if self.evaluation_ns and not has_gradients:
            self._end_evaluation(now)
        if self.iterator is not None and self.iterator() is iterator:
            self._end_batch(now)
            self.batches = 0  # Those that were read but not trained on.
            self.iterator = None
            self.hooks.arrange()

    def take_backward(self, began, ended, loss):
        if self.forward_ns:
            self.log.phase(b"forward", self.forward_ns, began)
        self.log.phase(b"backward", began, ended)
        self.forward_ns = self.backward_ns = ended
        if loss is not None:
            self.loss, self.loss_ns = loss, ended
        self.own_ns += now_ns() - ended + UNSEEN_NS_PER_CALL

    def begin_update(self, optimizer):
        if self.optimizer is None:
            self.optimizer = id(optimizer)
            self.optimizer_ns = now_ns()
            self.own_ns += UNSEEN_NS_PER_CALL

    def end_update(self, optimizer):
        now = now_ns()
        if id(optimizer) not in self.updated:
            self.updated.add(id(optimizer))
        elif self.iterator is None:
            self._end_step(self.updated_ns)
            self.updated.add(id(optimizer))
        else:
            self._note_repeat(optimizer)
        if self.budget.is_timed and self.optimizer == id(optimizer):
            # Frameworks compute the loss inside of the optimizer's step: that part is forward and backward.
            self.log.phase(b"optimizer", max(self.optimizer_ns, self.backward_ns), now)
            self.forward_ns = now
        if self.optimizer == id(optimizer):
            self.optimizer = None
        self.updates += 1
        self.has_updated = True
        self.updated_ns = now
        if self.budget.is_timed:
            self.hooks.record_event()
        if self.iterator is None:
            self._flush_if_due(now)
        self.own_ns += now_ns() - now + UNSEEN_NS_PER_CALL

    def begin_evaluation(self):
        """A framework begins to evaluate: the step before has ended."""
        now = now_ns()
        self.hooks.drain()
        if self.evaluation_ns:
            self._end_evaluation(now)
        self._end_batch(now)
        self.hooks.fast = None

    def finish(self):
        """The process ends."""
        if self.evaluation_ns:
            self._end_evaluation(now_ns())
        if self.iterator_batches == 1:
            self._count_repeats()
        if self.updates:
            self._end_step(self.updated_ns)
        elif self.hooks.has_updated_unseen(self):
            # Nobody saw when: the step is given as much time as those before it, not what follows the training.
            self._end_step(min(now_ns(), self.forward_ns + self.budget.recent_step_ns()), None)
        if not self.number and self.silent and self.hooks.may_update_unseen():
            self._count_batches()
        if self.number:
            if self.hooks.communication is not None:
                self.hooks.communication.report(self.log)
            self._report_cost()

    def _end_batch(self, now):
        if not self.updates and self.hooks.has_updated_unseen(self):
            self._end_step(now, None)
        elif self.updates:
            self._end_step(self.updated_ns if self.iterator is None else now)
        elif self.counts_batches and self.batches:
            self._end_step(now, None)
        else:
            self._note_silence(now)
        self.optimizer = None

    def _note_silence(self, now):
        """Nobody has updated with the last batch."""
        if self.batches and not self.has_updated and not self.has_given_up:
            self.silent.append(now)
            if len(self.silent) >= _SILENT_BATCHES:
                self._count_batches()

    def _note_repeat(self, optimizer):
        """An optimizer has updated again with the same batch."""
        self.repeats.append((self.updated_ns, self.updates))
        self.updated = {id(optimizer)}
        if len(self.repeats) >= (_REPEATS if self.iterator_batches == 1 else 8 * _REPEATS):
            self._count_repeats()
            self.iterator, self.left = None, self.iterator
            self.hooks.arrange()

    def _count_repeats(self):
        """The updates since the last batch are steps, as without a loader."""
        repeats, updates, updated, counted = self.repeats, self.updates, self.updated, 0
        own_ns = self.own_ns // max(1, len(repeats))
        for time_ns, count in repeats:
            self.updates, self.own_ns, counted = count - counted, own_ns, count
            self._end_step(time_ns)
        if repeats:
            self.updates, self.updated = updates - counted, updated

    def _end_step(self, now, updates=0):
        """`updates`: None if nobody counted them."""
        updates = None if updates is None else self.updates
        budget = self.budget
        self.number += 1
        if session.may_step(SOURCE):
            if session.main_log is None:
                session.main_log = self.log
            self._note_batch_size(now)
            values = (self.number, updates, self.batches, budget.is_timed, self.dry, self.loss)
            self.log.events.append((now, step_text, values))
        self.updates = self.batches = 0
        self.loss = self.dry = None
        self.updated, self.repeats = set(), []
        was_timed = budget.is_timed
        budget.end_step(now, self.own_ns)
        self.own_ns = 0
        if self.hooks.communication is not None:
            self.hooks.communication.note_step(self, now)
        if budget.is_timed != was_timed:
            self.hooks.arrange()
            self.forward_ns = 0
            if not self.has_reported_bursts:
                self._report_bursts()

    def _report_bursts(self):
        self.has_reported_bursts = True
        session.mark("phases are timed in bursts of steps: timing every step would take more than 0.3 % of step time")

    def _report_cost(self):
        budget = self.budget
        share = budget.share()
        cost = "" if share is None else ", %.2g %% of step time in hooks" % (100 * share)
        session.mark("instrumentation: %d steps, phases of %d timed%s" % (budget.steps, budget.timed_steps, cost))

    def _count_batches(self):
        """Compiled or replayed code may update where no hook sees it."""
        times, self.silent = self.silent, []
        if not self.hooks.may_update_unseen():
            self.has_given_up = True
            return
        self.counts_batches = True
        session.mark("no update of an optimizer was seen (compiled or replayed): each batch counts as a step")
        self.batches = 1
        for time_ns in times:
            self._end_step(time_ns, None)

    def _note_batch_size(self, now):
        size = self.items and self.batches and self.items * self.batches
        if size and size != self.batch_size:
            self.batch_size = size
            self.log.add(now, b"batch %d" % size)

    def _take_evaluation_batch(self, began, ended):
        if spans.is_open(EVALUATION) and not self.evaluation_ns:
            return
        if not self.evaluation_ns:
            self._end_batch(began)
            self.evaluation_ns = began
            self.hooks.fast = None  # The next batch of training ends the evaluation.
            self.evaluation_gap_ns = 0
            spans.begin(EVALUATION, began)
        else:
            self.evaluation_gap_ns = max(self.evaluation_gap_ns, ended - self.evaluated_ns)
        self.evaluated_ns = ended

    def _end_evaluation(self, now):
        """The last batch is given as much time as the longest of the others."""
        last_ns = max(self.evaluation_gap_ns, self.evaluated_ns - self.evaluation_ns)
        spans.end(EVALUATION, min(now, self.evaluated_ns + last_ns))
        self.evaluation_ns = 0

    def _iterator_is_gone(self, reference):
        try:
            if self.iterator is reference:
                self.hooks.drain()
                if self.iterator_batches == 1:
                    self._count_repeats()
                self.iterator = None
                if not session.is_off:
                    self.hooks.arrange()
        except Exception as error:
            session.failed("the end of an iterator", error)

    def _flush_if_due(self, now):
        if len(self.log.events) > _MOST_EVENTS:
            self.log.flush(now)
        else:
            self.log.flush_if_due(now)


def step_text(session, number, updates, batches, is_timed, dry, loss):
    if session.steps_from != SOURCE:
        return None
    if updates is None and not is_timed and batches:
        return b"step %d batches=%d timed=0" % (number, batches)  # Most steps, where there are bursts.
    text = b"step %d" % number
    if updates is not None:
        text += b" updates=%d" % updates
    if batches:
        text += b" batches=%d" % batches
    text += b" timed=%d" % is_timed
    if dry is not None:
        text += b" dry=%d" % dry
    if loss is not None:
        text += b" loss=%.9g" % loss
    return text
