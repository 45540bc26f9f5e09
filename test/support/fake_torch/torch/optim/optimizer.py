from collections import OrderedDict
from itertools import chain

_global_optimizer_pre_hooks = OrderedDict()
_global_optimizer_post_hooks = OrderedDict()
_next_id = [0]


class _Handle:
    def __init__(self, hooks, hook):
        _next_id[0] += 1
        self.hooks, self.id = hooks, _next_id[0]
        hooks[self.id] = hook

    def remove(self):
        del self.hooks[self.id]


def register_optimizer_step_pre_hook(hook):
    return _Handle(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    return _Handle(_global_optimizer_post_hooks, hook)


class Optimizer:
    def step(self, closure=None):
        for hook in chain(_global_optimizer_pre_hooks.values()):
            result = hook(self, (self,), {})
            if result is not None:
                raise RuntimeError("a hook must return None")
        if closure is not None:
            closure()
        for hook in chain(_global_optimizer_post_hooks.values()):
            hook(self, (self,), {})

    def unhooked_step(self):
        """As compiled code does it."""


class SGD(Optimizer):
    pass
