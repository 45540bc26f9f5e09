"""Phases of seconds, such as checkpoints and evaluations: their begin and end are sent at once.

Calls of the same kind may be nested (a checkpoint of a framework writes several files): only the outermost counts.
"""
import functools

from ._pipe import now_ns
from .session import session

CHECKPOINT, EVALUATION = b"checkpoint", b"evaluation"
_SHORT_NS = 100000000
_open = {}  # (thread's log, name): [depth, timestamp, whether its begin was sent]
_ended = {}  # name: when the last one ended

session.after_fork(_open.clear)


def begin(name, time_ns=None):
    key = (session.log(), name)
    span = _open.get(key)
    if span is not None:
        span[0] += 1
        return
    now = now_ns() if time_ns is None else time_ns
    # Hundreds of small files in a row are sent with the other lines, not one by one.
    is_sent = now - _ended.get(name, -_SHORT_NS) >= _SHORT_NS
    _open[key] = [1, now, is_sent]
    if is_sent and name not in session.client_phases:
        key[0].add(now, b"begin " + name)
        key[0].flush()


def end(name, time_ns=None):
    key = (session.log(), name)
    span = _open.get(key)
    if span is None:
        return
    span[0] -= 1
    if span[0] > 0:
        return
    del _open[key]
    now = now_ns() if time_ns is None else time_ns
    _ended[name] = now
    if name in session.client_phases:
        return
    if span[2]:
        key[0].add(now, b"end " + name)
        key[0].flush()
    else:
        key[0].phase(name, span[1], now)


def lose(name):
    """Nobody will end the one that is open. The recorder ends it with the next step."""
    _open.pop((session.log(), name), None)


def is_open(name):
    return bool(_open) and (session.log(), name) in _open


def around(original, name, is_counted=None, is_compiling=None, before=None):
    """The same function; each call is a phase. `is_counted`: whether a call with these arguments is one."""

    @functools.wraps(original)
    def call(*arguments, **keywords):
        if is_compiling is not None and is_compiling():
            return original(*arguments, **keywords)
        if session.is_off:
            return original(*arguments, **keywords)
        has_begun = False
        try:
            if is_counted is None or is_counted(arguments, keywords):
                if before is not None:
                    before()
                begin(name)
                has_begun = True
        except Exception as error:
            session.failed("the begin of a call", error)
        try:
            return original(*arguments, **keywords)
        finally:
            if has_begun and not session.is_off:
                try:
                    end(name)
                except Exception as error:
                    session.failed("the end of a call", error)

    return call


def replace(owner, attribute, make, framework, *names):
    """Replaces an attribute of a module or class by make(original); `names` is what this observes."""
    original = getattr(owner, attribute)
    ours = make(original)
    setattr(owner, attribute, ours)

    def restore():
        if getattr(owner, attribute) is ours:  # What the job has put there stays, and may call ours.
            setattr(owner, attribute, original)

    session.note_attached(framework, *names, restore=restore)
