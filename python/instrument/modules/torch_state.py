"""What the hooks of PyTorch share: whether a compiler is tracing them. Its modules are asked when hooks are called:
while torch is being imported they do not exist yet."""
import sys

_torch = sys.modules.get("torch")


def is_compiling():
    """Dynamo replaces the call inside by True, and so traces nothing of a hook but the original."""
    try:
        return _torch.compiler.is_compiling()
    except AttributeError:  # PyTorch before 2.1
        return False
