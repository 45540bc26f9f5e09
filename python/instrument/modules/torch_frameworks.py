"""Where frameworks on PyTorch are observed: transfers, evaluations and checkpoints of Accelerate, Hugging Face
Trainer and Lightning. Steps and other phases come from PyTorch's own hooks."""
import functools

from . import _pipe
from ._pipe import now_ns
from .session import session
from .spans import CHECKPOINT, EVALUATION, around, replace
from .torch_hooks import current_trace, hooks
from .torch_state import is_compiling

_TRANSFER = b"transfer"
_EVALUATION_PREFIX = "eval_"


def attach_accelerate(module):
    replace(module, "send_to_device", _transfer, "accelerate", "transfer")


def attach_strategy(module):
    replace(module.Strategy, "batch_to_device", _transfer, "lightning", "transfer")


def attach_evaluation(module):
    replace(module._EvaluationLoop, "run", _evaluation, "lightning", "evaluation")


def attach_trainer(module):
    replace(module.Trainer, "save_checkpoint", lambda original: around(original, CHECKPOINT), "lightning", "checkpoint")


def attach_huggingface(module):
    replace(module.Trainer, "evaluation_loop", _evaluation, "transformers", "evaluation")
    replace(module.Trainer, "_save_checkpoint", lambda original: around(original, CHECKPOINT), "transformers",
            "checkpoint")
    replace(module.Trainer, "log", _logged, "transformers", "loss")


def _evaluation(original):
    return around(original, EVALUATION, before=lambda: hooks.trace().begin_evaluation())


def _transfer(original):
    """Moving a batch to the device, where a framework does it; it calls itself for the parts of a batch."""

    @functools.wraps(original)
    def transfer(*arguments, **keywords):
        if is_compiling():
            return original(*arguments, **keywords)
        if session.is_off:
            return original(*arguments, **keywords)
        trace = current_trace()
        if trace is None or trace.is_waiting or not trace.budget.is_timed:
            return original(*arguments, **keywords)
        began = now_ns()
        try:
            trace.is_waiting = True
            return original(*arguments, **keywords)
        finally:
            trace.is_waiting = False
            _take_transfer(trace, began)

    return transfer


def _take_transfer(trace, began):
    try:
        ended = now_ns()
        if trace.batches and not session.is_off:
            trace.log.phase(_TRANSFER, began, ended)
            trace.forward_ns = ended
    except Exception as error:
        session.failed("a transfer", error)


def _logged(original):
    """The Trainer logs numbers that it has fetched already."""

    @functools.wraps(original)
    def log(self, logs, *arguments, **keywords):
        try:
            if not session.is_off and session.steps_from != "client":
                _take_logs(logs)
        except Exception as error:
            session.failed("a log of the Trainer", error)
        return original(self, logs, *arguments, **keywords)

    return log


def _take_logs(logs):
    log, now = session.log(), now_ns()
    for name, value in logs.items():
        if type(value) not in (int, float):
            continue
        is_evaluation = name.startswith(_EVALUATION_PREFIX)
        name = _pipe.as_name(name[len(_EVALUATION_PREFIX):] if is_evaluation else name)
        log.add(now, b"scalar %s %.15g%s" % (name, value, b" set=validation" if is_evaluation else b""))
