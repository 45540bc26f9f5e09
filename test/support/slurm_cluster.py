"""A Slurm of one node for tests: munged, slurmctld and slurmd of Debian, with their own key, ports and folders.

Needs root, because slurmd starts jobs of any user. Nothing outside its folder is read or written.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess

from trainscope_test import IS_ROOT, wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def program(name):
    """The path of a program, which may be in sbin; None where it is not installed."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def why_no_slurm():
    """Why no cluster can be started here; "" if one can."""
    missing = [name for name in PROGRAMS if program(name) is None]
    if missing:
        return f"{', '.join(missing)} not installed: apt-get install slurmctld slurmd slurm-client munge"
    return "" if IS_ROOT else "slurmd needs root"


def free_ports(count):
    """Ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class SlurmCluster:
    """Runs until stop(). `environment` has what Slurm's commands need."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.daemons = []
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)  # munged insists on it
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        control_port, node_port = free_ports(2)
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(host=socket.gethostname().split(".")[0], folder=folder, cpus=os.cpu_count(),
                                                      control_port=control_port, node_port=node_port))
        self.environment = {"SLURM_CONF": str(configuration)}

    def start(self):
        self.start_daemon("munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key",
                          f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munge.pid",
                          f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed")
        wait_until((self.folder / "munge.socket").exists)
        self.start_daemon("slurmctld", "-D", "-f", self.environment["SLURM_CONF"])
        self.start_daemon("slurmd", "-D", "-f", self.environment["SLURM_CONF"])
        wait_until(self.is_idle)

    def is_idle(self):
        for daemon in self.daemons:
            if daemon.poll() is not None:
                raise AssertionError(f"{daemon.args[0]} has ended: {(self.folder / 'daemons.log').read_text()}")
        done = subprocess.run([program("sinfo"), "--noheader", "--format", "%t"], capture_output=True, text=True,
                              env={**os.environ, **self.environment})
        return done.stdout.strip() == "idle"

    def start_daemon(self, name, *arguments):
        with open(self.folder / "daemons.log", "ab") as log:
            self.daemons.append(subprocess.Popen([program(name), *arguments], env={**os.environ, **self.environment},
                                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
