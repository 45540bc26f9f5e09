"""Progress reports for the Hugging Face Trainer: `Trainer(callbacks=[trainscope.huggingface.ProgressCallback()])`.

For: transformers 4 and 5. Reports each step, each epoch, every number that the Trainer logs (as
scalars; those of evaluation for the validation set), the wait for data (`input`), evaluation and
checkpoints as phases, and the number of items per step in this process.

Guarantees: those of trainscope. Limits: the Trainer has no hooks where these phases begin. The time
between the end of one step and the beginning of the next counts as input, the time before the end of an
evaluation or a checkpoint as that; logging and other callbacks are included. Versions before
4.46 fetch only the first of several accumulated batches there.
"""
import trainscope
from transformers import TrainerCallback

__all__ = ["ProgressCallback"]
_EVALUATION = "eval_"


class ProgressCallback(TrainerCallback):
    """For train() and evaluate()."""

    def __init__(self):
        self._since_ns = None  # end of the last reported part
        self._is_training = False

    def on_train_begin(self, args, state, control, **kwargs):
        self._is_training = True
        trainscope.set_who("rank%d" % args.process_index if args.process_index else "")
        trainscope.batch(args.train_batch_size * args.gradient_accumulation_steps)

    def on_epoch_begin(self, args, state, control, **kwargs):
        self._since_ns = trainscope.now_ns()

    def on_step_begin(self, args, state, control, **kwargs):
        self._send_phase("input")

    def on_step_end(self, args, state, control, **kwargs):
        trainscope.step(state.global_step)
        self._since_ns = trainscope.now_ns()

    def on_prediction_step(self, args, state, control, **kwargs):
        if self._since_ns is None:  # A separate evaluate().
            self._since_ns = trainscope.now_ns()

    def on_log(self, args, state, control, logs=None, **kwargs):
        logs = logs or {}
        for name, value in logs.items():
            is_evaluation = name.startswith(_EVALUATION)
            trainscope.scalar(name[len(_EVALUATION):] if is_evaluation else name, value,
                              set="validation" if is_evaluation else None)
        if not any(name.startswith(_EVALUATION) for name in logs):
            self._since_ns = trainscope.now_ns()

    def on_evaluate(self, args, state, control, **kwargs):
        self._send_phase("evaluation")

    def on_save(self, args, state, control, **kwargs):
        self._send_phase("checkpoint")

    def on_epoch_end(self, args, state, control, **kwargs):
        trainscope.epoch(round(state.epoch or 0))
        self._since_ns = trainscope.now_ns()

    def on_train_end(self, args, state, control, **kwargs):
        self._is_training = False
        self._since_ns = None

    def on_predict(self, args, state, control, **kwargs):
        self._since_ns = trainscope.now_ns() if self._is_training else None

    def _send_phase(self, name):
        now = trainscope.now_ns()
        if self._since_ns is not None:
            trainscope.phase(name, (now - self._since_ns) * 1e-9)
        self._since_ns = now if self._is_training else None
