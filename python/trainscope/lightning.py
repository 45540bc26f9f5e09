"""Progress reports for Lightning: `Trainer(callbacks=[trainscope.lightning.ProgressCallback()])`.

For: lightning (2.0 or later) and pytorch_lightning. Reports each optimizer step with its loss, each
epoch with the logged metrics, evaluation, the wait for each batch (`input`) and writing checkpoints as
phases, and the number of items per step.

Guarantees: those of trainscope. Limits: waits and checkpoints come from the trainer's profiler, so only
if the job has not set its own. A loss on an accelerator is fetched every log_every_n_steps, as
Lightning does for its own loggers; one in memory at every step. With several optimizers Lightning counts the
steps of all.
"""
import sys

import trainscope
from trainscope._pipe import items_in

__all__ = ["ProgressCallback"]


def _lightning():
    """The Lightning that the job uses: it has two names."""
    if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
        return sys.modules["pytorch_lightning"]
    try:
        import lightning.pytorch
    except ImportError:
        import pytorch_lightning
        return pytorch_lightning
    return lightning.pytorch


_Callback = _lightning().callbacks.Callback
_NoProfiler = _lightning().profilers.PassThroughProfiler


class _PhaseProfiler(_NoProfiler):
    """Replaces the profiler that does nothing, and reports what callbacks cannot see."""

    PHASES = {"train_dataloader_next": "input", "save_checkpoint": "checkpoint"}

    def __init__(self):
        super().__init__()
        self._began_ns = {}

    def start(self, action_name):
        name = self.PHASES.get(action_name.rpartition(".")[2])
        if name:
            self._began_ns[name] = trainscope.now_ns()

    def stop(self, action_name):
        name = self.PHASES.get(action_name.rpartition(".")[2])
        if name in self._began_ns:
            trainscope.phase(name, (trainscope.now_ns() - self._began_ns.pop(name)) * 1e-9)


class ProgressCallback(_Callback):
    """For fit(), validate() and test()."""

    def __init__(self):
        super().__init__()
        self._profiler = None  # the trainer's, while ours replaces it
        self._step = 0
        self._items = None

    def setup(self, trainer, pl_module, stage=None):
        trainscope.set_who("rank%d" % trainer.global_rank if trainer.global_rank else "")
        self._step = trainer.global_step
        if trainscope.active() and type(trainer.profiler) is _NoProfiler:
            self._profiler, trainer.profiler = trainer.profiler, _PhaseProfiler()

    def teardown(self, trainer, pl_module, stage=None):
        if self._profiler is not None:
            trainer.profiler, self._profiler = self._profiler, None

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, *unused):
        if trainer.global_step == self._step:  # Gradients are still being accumulated.
            return
        self._step = trainer.global_step
        self._report_items(trainer, batch)
        trainscope.send_report("step", self._step, self._loss(trainer, outputs))

    def on_train_epoch_end(self, trainer, pl_module, *unused):
        trainscope.send_report("epoch", trainer.current_epoch + 1, trainer.callback_metrics)

    def on_validation_start(self, trainer, pl_module):
        trainscope.begin("evaluation")

    def on_validation_end(self, trainer, pl_module):
        trainscope.end("evaluation")

    def on_test_start(self, trainer, pl_module):
        trainscope.begin("evaluation")

    def on_test_end(self, trainer, pl_module):
        trainscope.end("evaluation")

    def _report_items(self, trainer, batch):
        items = items_in(batch)
        if items and items != self._items:
            self._items = items
            trainscope.batch(items * trainer.accumulate_grad_batches)

    def _loss(self, trainer, outputs):
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        device = getattr(getattr(loss, "device", None), "type", "cpu")
        every = trainer.log_every_n_steps or 50
        return {"loss": loss} if loss is not None and (device == "cpu" or self._step % every == 0) else {}
