"""As much of PyTorch as the hooks of `run --instrument` touch, so that their rules can be tested without it.

The structure is that of PyTorch 2: the same leaf modules, names that are copied from them, hooks in the same order.
Tests with the real one are in test/integration/test_instrument_torch.py.
"""
import contextlib

__version__ = "2.fake"
_gradients = [True]
_threads = [8]


def get_num_threads():
    return _threads[0]


def set_num_threads(count):
    _threads[0] = count


def is_grad_enabled():
    return _gradients[-1]


@contextlib.contextmanager
def no_grad():
    _gradients.append(False)
    try:
        yield
    finally:
        _gradients.pop()


class _Device:
    type = "cpu"


class Tensor:
    def __init__(self, value=0.0, shape=(4, 2)):
        self.value, self.shape, self.device = value, shape, _Device()
        self._version, self.requires_grad = 0, False

    def backward(self):
        autograd.backward(self)

    def numel(self):
        return 1

    def element_size(self):
        return 4

    def clone(self):
        return Tensor(self.value, self.shape)

    def add_(self, value):
        self.value += value
        self._version += 1

    def is_complex(self):
        return False

    def item(self):
        return self.value


from . import autograd, compiler, cuda, optim, utils
from .serialization import save

__all__ = ["autograd", "compiler", "cuda", "optim", "save", "utils"]
