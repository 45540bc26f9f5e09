"""Where code of PyTorch is observed that calls none of our hooks: what was compiled, and replayed CUDA graphs."""
import functools
import sys

from .session import pass_on_if_of_job, session
from .spans import replace
from .torch_hooks import hooks


def attach_compiler(module):
    """From the first use of the compiler on no hook is replaced any more."""
    contexts = getattr(module, "OptimizeContext", None)
    if contexts is None:
        hooks.compiles = True
        hooks.arrange()
        return
    original = contexts.__init__

    @functools.wraps(original)
    def __init__(self, *arguments, **keywords):
        if not hooks.compiles and not session.is_off:
            hooks.compiles = True
            try:
                _hide_from(module)
                hooks.expect_unseen_updates()
                hooks.arrange()
            except Exception as error:
                session.failed("the compiler", error)
        original(self, *arguments, **keywords)

    contexts.__init__ = __init__


def _hide_from(compiler):
    """Where a graph ends in one of our functions, it is called as those of torch are: nothing in it is compiled.
    Without this the compiler sees is_compiling() in it, and then only the original."""
    package = __name__.rpartition(".")[0]
    try:
        for name, module in list(sys.modules.items()):
            if name.startswith(package + "."):
                for code in _codes_of(vars(module).values(), module.__name__):
                    compiler.skip_code(code)
    except Exception as error:  # Another version of PyTorch.
        pass_on_if_of_job(error)
        session.note_missing("skip_code", error)


def _codes_of(values, module):
    for value in values:
        if isinstance(value, type) and value.__module__ == module:
            yield from _codes_of(vars(value).values(), module)
        code = getattr(value, "__code__", None)
        if code is not None and getattr(value, "__module__", None) == module:
            yield from _with_inner(code)


def _with_inner(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield from _with_inner(constant)


def attach_graphs(module):
    replace(module.CUDAGraph, "replay", _counted, "torch")
    if hasattr(module.CUDAGraph, "capture_begin"):
        replace(module.CUDAGraph, "capture_begin", _announced, "torch")
    else:
        hooks.forget_event("captures of CUDA graphs cannot be noticed")


def _counted(original):
    @functools.wraps(original)
    def replay(self):
        hooks.replays += 1
        if hooks.replays == 1 and not session.is_off:
            try:
                hooks.expect_unseen_updates()
            except Exception as error:
                session.failed("a CUDA graph", error)
        return original(self)

    return replay


def _announced(original):
    """A query of an event by any thread destroys a capture, and nothing tells one thread that another captures."""

    @functools.wraps(original)
    def capture_begin(self, *arguments, **keywords):
        if not session.is_off:
            try:
                hooks.forget_event("the job captures CUDA graphs")
            except Exception as error:
                session.failed("a CUDA graph", error)
        return original(self, *arguments, **keywords)

    return capture_begin
