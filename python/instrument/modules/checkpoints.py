"""Checkpoints of PyTorch: torch.save, safetensors, torch.distributed.checkpoint."""
import io
import sys

from .spans import CHECKPOINT, around, replace
from .torch_state import is_compiling


def attach_save(module):
    replace(module, "save", lambda original: around(original, CHECKPOINT, _is_to_file, is_compiling), "torch",
            "checkpoint")


def attach_distributed(module):
    replace(module, "save", lambda original: around(original, CHECKPOINT, None, is_compiling), "torch", "checkpoint")


def attach_safetensors(module):
    replace(module, "save_file", lambda original: around(original, CHECKPOINT), "safetensors", "checkpoint")


def _is_to_file(arguments, keywords):
    """Objects are also saved into memory, to be sent to other processes, and workers of data loaders save samples."""
    worker_info = getattr(sys.modules.get("torch.utils.data"), "get_worker_info", None)
    if worker_info is not None and worker_info() is not None:
        return False
    target = arguments[1] if len(arguments) > 1 else keywords.get("f")
    return not isinstance(target, io.BytesIO)
