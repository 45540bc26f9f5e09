"""Progress reports for a PyTorch training loop: `for batch in trainscope.torch.loop(loader): …`.

For: your own loop over a DataLoader (or any iterable; torch itself is not imported here). Each wait
for a batch is reported as the phase `input`, each step when the body of the loop ends, the number of items
as `batch` when it changes.

Guarantees: those of trainscope; a batch is not kept, and outside a run the loader itself is iterated over.
Limits: a step whose body is left by break, return or an exception is not reported, because it may not
have trained. On a GPU the body ends when its work is queued; the loop as a whole keeps the GPU's pace.
"""
from . import MeasuredIterable, MeasuredIterator, active, batch, step
from ._pipe import items_in


def loop(loader):
    """Iterate over it in place of the loader; report() adds numbers to the current step."""
    return Loop(loader)


class Loop(MeasuredIterable):
    """A loader whose iteration is a training loop."""

    def __init__(self, loader):
        super().__init__(loader)
        self._numbers = {}

    def __iter__(self):
        return _Steps(self) if active() else iter(self._iterable)

    def report(self, **numbers):
        """Sent with the step when the body ends: report(loss=loss.item()), report(number=global_step)."""
        self._numbers.update(numbers)

    def take_numbers(self):
        numbers, self._numbers = self._numbers, {}
        return numbers


class _Steps(MeasuredIterator):
    def __init__(self, loop_):
        super().__init__(loop_._iterable)
        self._loop = loop_
        self._is_step_under_way = False
        self._items = None

    def __next__(self):
        if self._is_step_under_way:
            self._is_step_under_way = False
            step(**self._loop.take_numbers())
        item = super().__next__()
        self._is_step_under_way = True
        items = items_in(item)
        if items and items != self._items:
            self._items = items
            batch(items)
        return item
