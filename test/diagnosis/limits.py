"""Runs a command under a limit: `limits.py cpu CORES COMMAND…` or `limits.py memory BYTES COMMAND…`.

The limit is that of a new cgroup (v1 or v2), a child of the one in which this process is, removed afterwards. Only
cgroups that nobody else may own are divided: the root of a hierarchy, one that was delegated (it belongs to this user, who
is not root, or systemd has marked it), or any if TRAINSCOPE_TRUTH_CGROUP=1 states that it was given to the caller. Where
none may be and systemd runs, systemd makes one (systemd-run --scope). Exit code: that of the command, or 77 with the reason
if no limit can be set.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

MOUNT = pathlib.Path("/sys/fs/cgroup")


def give_up(reason):
    print(reason, file=sys.stderr)
    sys.exit(77)


def is_delegated(folder, root):
    """To this user, or to whatever systemd has started in this cgroup or in one above it."""
    if os.getuid() != 0 and folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK):
        return True
    for place in (folder, *folder.parents):
        if place == root:
            return False
        for name in ("user.delegate", "trusted.delegate"):
            try:
                if os.getxattr(place, name) == b"1":
                    return True
            except OSError:
                continue
    return False


class CannotDivide(Exception):
    """The reason."""


def own_cgroup(controller):
    """Its folder, and whether it is of v2."""
    places = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        places.update({name: path for name in controllers.split(",")})
    is_v2 = controller not in places
    path = places.get("" if is_v2 else controller)
    root = MOUNT if is_v2 else MOUNT / controller
    if path is None or not (root / "cgroup.procs").exists():
        raise CannotDivide(f"no cgroup with the controller {controller} is mounted in {MOUNT}")
    folder = root / path.lstrip("/")
    if path != "/" and os.environ.get("TRAINSCOPE_TRUTH_CGROUP") != "1" and not is_delegated(folder, root):
        raise CannotDivide(f"the cgroup {path} may belong to others; TRAINSCOPE_TRUTH_CGROUP=1 states that it may be divided")
    if is_v2 and controller not in (folder / "cgroup.subtree_control").read_text().split():
        raise CannotDivide(f"the controller {controller} is not enabled for children of the cgroup {path}")
    return folder, is_v2


def run_by_systemd(controller, amount, command, reason):
    """In a scope that systemd makes; gives up with the reason if it does not run here."""
    program = shutil.which("systemd-run")
    if program is None or not os.path.isdir("/run/systemd/system"):
        give_up(f"{reason}; systemd does not run here")
    limit = f"CPUQuota={round(100 * amount)}%" if controller == "cpu" else f"MemoryMax={round(amount)}"
    scope = [program, "--quiet", "--scope", *([] if os.getuid() == 0 else ["--user"]), "-p", limit, "--"]
    if subprocess.call([*scope, "true"], stderr=subprocess.DEVNULL) != 0:
        give_up(f"{reason}; systemd-run cannot make a scope with {limit}")
    return subprocess.call([*scope, *command])


def set_limit(group, controller, amount, is_v2):
    if controller == "cpu":
        settings = {"cpu.max": f"{round(amount * 100000)} 100000"} if is_v2 else {
            "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": str(round(amount * 100000))}
    else:
        settings = {"memory.max" if is_v2 else "memory.limit_in_bytes": str(round(amount))}
    for name, value in settings.items():
        (group / name).write_text(value)


def remove(group):
    """Processes of the command may take a moment to end."""
    for _ in range(100):
        try:
            return group.rmdir()
        except OSError:
            time.sleep(0.05)
    group.rmdir()


def main():
    controller, amount, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    try:
        parent, is_v2 = own_cgroup(controller)
    except CannotDivide as reason:
        return run_by_systemd(controller, amount, command, reason)
    group = parent / f"trainscope-truth-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        give_up(f"cannot create a cgroup in {parent}: {error.strerror}")
    try:
        try:
            set_limit(group, controller, amount, is_v2)
        except OSError as error:
            give_up(f"cannot set a limit in {group}: {error.strerror}")
        return subprocess.call(command, preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    finally:
        remove(group)


if __name__ == "__main__":
    sys.exit(main())
