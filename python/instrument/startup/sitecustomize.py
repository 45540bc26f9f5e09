"""Lets `trainscope run --instrument` see the imports of a Python job; Python runs this file at its start.

Python finds it through PYTHONPATH, which the run sets. It takes its own folder out of sys.path again (children
still find it: the variable stays), prepares hooks for a few modules of frameworks, and runs the sitecustomize
that Python would have found otherwise. No code of ours is loaded before the job imports a framework.

Guarantees: errors of the user's own sitecustomize reach Python as they would without this file, and so does
its absence. Nothing else in this folder can be imported. Limits: Python 3.7 or later; older ones get their own
sitecustomize and nothing else.
"""
import os
import sys
from _thread import get_ident

_HERE = os.path.dirname(os.path.abspath(__file__))
_MODULES = os.path.join(os.path.dirname(_HERE), "modules")
_PACKAGE = "_trainscope_instrument"
# Leaf modules: hooks are attached right after one was executed, before others copy names from it.
_TARGETS = frozenset((
    "torch.utils.data.dataloader", "torch.autograd", "torch.optim.optimizer", "torch.serialization",
    "torch.cuda.graphs", "torch._dynamo.eval_frame", "torch.nn.parallel.distributed",
    "torch.distributed.checkpoint.state_dict_saver", "safetensors.torch", "accelerate.utils.operations",
    "lightning.pytorch.strategies.strategy", "lightning.pytorch.loops.evaluation_loop",
    "lightning.pytorch.trainer.trainer", "pytorch_lightning.strategies.strategy",
    "pytorch_lightning.loops.evaluation_loop", "pytorch_lightning.trainer.trainer", "transformers.trainer",
    "keras.src.callbacks.callback_list", "keras.src.models.model", "tensorflow.python.ops.gen_dataset_ops",
    "tensorflow.python.eager.polymorphic_function.concrete_function", "tensorflow.python.training.optimizer",
    "keras.src.optimizers.base_optimizer", "jax._src.monitoring", "trainscope._pipe"))


class _Finder(object):
    """Lets the finders behind it find a module, and attaches hooks once its loader has executed it."""
    is_of_trainscope = True

    def __init__(self):
        self._searches = set()  # (thread, name): one of the job's finders may ask this one again

    def find_spec(self, name, path=None, target=None):
        search = (get_ident(), name)
        if name not in _TARGETS or search in self._searches:
            return None
        self._searches.add(search)
        try:
            spec = self._find_behind(name, path, target)
        finally:
            self._searches.discard(search)
        if spec is not None:
            _attach_after(spec.loader, name)
        return spec

    def _find_behind(self, name, path, target):
        finders = list(sys.meta_path)
        for finder in finders[finders.index(self) + 1 if self in finders else 0:]:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                return spec
        return None


def _attach_after(loader, name):
    original = getattr(loader, "exec_module", None)
    if original is None or isinstance(loader, type) or not hasattr(loader, "__dict__"):
        return  # A class is the loader of other modules too.

    def exec_module(module):
        is_target = module.__name__ == name  # Modules of a zip file share their loader.
        if is_target:
            loader.__dict__.pop("exec_module", None)
        original(module)
        if is_target:
            _attach(name, module)

    try:
        loader.exec_module = exec_module
    except Exception as error:  # A loader that cannot be changed.
        if _is_from_signal_handler(error):
            raise


def _attach(name, module):
    try:
        if _PACKAGE not in sys.modules:
            from importlib.util import module_from_spec, spec_from_file_location
            spec = spec_from_file_location(_PACKAGE, os.path.join(_MODULES, "__init__.py"),
                                           submodule_search_locations=[_MODULES])
            sys.modules[_PACKAGE] = package = module_from_spec(spec)
            spec.loader.exec_module(package)
        sys.modules[_PACKAGE].attach(name, module)
    except Exception as error:  # The run folder may be gone, or half written: the job runs as without us.
        if _is_from_signal_handler(error):
            raise


def _is_from_signal_handler(error):
    """As in _pipe.py, which may not be loaded."""
    trace = error.__traceback__
    while trace is not None:
        interrupted = trace.tb_frame.f_back
        for value in list(trace.tb_frame.f_locals.values()) if interrupted is not None else ():
            if any(part is interrupted for part in (value if type(value) is tuple else (value,))):
                return True
        trace = trace.tb_next
    return False


def _is_of_this_run():
    """The pipe is in the folder of the run that has this file. The job may start another run, which has its own
    pipe, and nobody may have asked for the instrumentation of that one."""
    pipe = os.environ.get("TRAINSCOPE_PIPE")
    return bool(pipe) and os.path.dirname(os.path.abspath(pipe)) == os.path.dirname(os.path.dirname(_HERE))


def _run_own_sitecustomize():
    """The one that Python would have found. Without one, this module does not exist either."""
    if sys.version_info < (3, 4):
        import imp
        imp.load_module("sitecustomize", *imp.find_module("sitecustomize", sys.path))
        return
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    sys.modules["sitecustomize"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


sys.path[:] = [path for path in sys.path if path != _HERE]
_is_wanted = _is_of_this_run() and os.environ.get("TRAINSCOPE_INSTRUMENT") != "0"
# A run inside of a run has two of these folders in PYTHONPATH.
_is_first = not any(getattr(finder, "is_of_trainscope", False) for finder in sys.meta_path)
if sys.version_info >= (3, 7) and _is_wanted and _is_first:
    sys.meta_path.insert(0, _Finder())
_run_own_sitecustomize()
