"""Where JAX is observed: how long it compiles. A jitted call returns before it has computed, so steps are unknown."""
from ._pipe import now_ns
from .session import session

_COMPILED = "/jax/core/compile/backend_compile_duration"


def attach_monitoring(module):
    module.register_event_duration_secs_listener(_take_duration)
    session.note_attached("jax", "compile")


def _take_duration(event, seconds, **labels):
    if event != _COMPILED or session.is_off:
        return
    try:
        now = now_ns()
        log = session.log()
        log.phase(b"compile", now - int(seconds * 1e9), now)
        log.flush()
    except Exception as error:
        session.failed("JAX", error)
