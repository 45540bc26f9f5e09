"""The other tools that Trainscope is compared with, each recording as much of the same as it can."""
import contextlib
import os
import pathlib
import subprocess
import time

from harness import ROOT, has

SADC = "/usr/lib/sysstat/sadc"
PYTHON = "/usr/bin/python3"  # Debian's own, which has python3-psutil


def lines_in(path):
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    return 0


class Psutil:
    name = "psutil loop, tree cached"
    gaps = "no pressure, no cgroup"
    fastest_hz = None

    @staticmethod
    def missing():
        if subprocess.run([PYTHON, "-c", "import psutil"], capture_output=True, check=False).returncode:
            return "python3-psutil is not installed"
        return None

    def start(self, group, folder, rate, pids):
        self.out = folder / "psutil.csv"
        group.start([PYTHON, ROOT / "bench/psutil_loop.py", 1 / rate, self.out, *pids])

    def samples(self):
        return lines_in(self.out)


class Sysstat:
    name = "sysstat: sadc + pidstat"
    gaps = "no pressure, no cgroup, no PSS"
    fastest_hz = 1  # neither supports a fraction of a second

    @staticmethod
    def missing():
        return None if has("pidstat") and os.path.exists(SADC) else "sysstat is not installed"

    def start(self, group, folder, rate, pids):
        self.begin, self.rate = time.monotonic(), rate
        group.start([SADC, "-S", "DISK", "1", folder / "sadc.bin"])
        with open(folder / "pidstat.txt", "w") as out:
            group.start(["pidstat", "-u", "-r", "-d", "-h", "-p", ",".join(map(str, pids)), "1"], stdout=out)

    def samples(self):
        return (time.monotonic() - self.begin) * self.rate


class Collectd:
    name = "collectd, csv"
    gaps = "no pressure, no cgroup, no PSS; processes by name, not by tree"
    fastest_hz = None
    plugins = ("cpu", "memory", "swap", "disk", "interface", "vmem", "contextswitch", "processes", "csv")

    @staticmethod
    def missing():
        return None if has("collectd") else "collectd-core is not installed"

    def start(self, group, folder, rate, pids):
        comm = pathlib.Path(f"/proc/{pids[0]}/comm").read_text().strip()
        lines = [f"Interval {1 / rate}", "ReadThreads 1", "WriteThreads 1", f'BaseDir "{folder}"',
                 f'PIDFile "{folder}/collectd.pid"', 'TypesDB "/usr/share/collectd/types.db"', 'Hostname "bench"',
                 "FQDNLookup false"]
        lines += [f"LoadPlugin {plugin}" for plugin in self.plugins]
        lines += [f'<Plugin csv>\n  DataDir "{folder}/csv"\n</Plugin>',
                  f'<Plugin processes>\n  CollectContextSwitch true\n  Process "{comm}"\n</Plugin>']
        (folder / "collectd.conf").write_text("\n".join(lines) + "\n")
        self.folder = folder
        group.start(["collectd", "-f", "-C", folder / "collectd.conf"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def samples(self):
        return sum(lines_in(path) for path in self.folder.glob("csv/bench/memory/memory-used-*"))


class Pcp:
    name = "PCP: pmcd + pmlogger"
    gaps = "none of note"
    fastest_hz = None
    metrics = ("kernel.percpu.cpu.user", "kernel.percpu.cpu.nice", "kernel.percpu.cpu.sys", "kernel.percpu.cpu.idle",
               "kernel.percpu.cpu.wait.total", "kernel.percpu.cpu.irq.hard", "kernel.percpu.cpu.irq.soft",
               "kernel.percpu.cpu.steal", "kernel.all.pswitch", "kernel.all.runnable", "kernel.all.pressure.cpu.some.total",
               "kernel.all.pressure.memory.some.total", "kernel.all.pressure.memory.full.total",
               "kernel.all.pressure.io.some.total", "kernel.all.pressure.io.full.total", "mem.util.used",
               "mem.util.free", "mem.util.cached", "mem.util.bufmem", "mem.util.available", "mem.util.swapFree",
               "disk.dev.read", "disk.dev.write", "disk.dev.read_bytes", "disk.dev.write_bytes", "disk.dev.avactive",
               "disk.dev.aveq", "network.interface.in.bytes", "network.interface.out.bytes")
    of_processes = ("proc.psinfo.utime", "proc.psinfo.stime", "proc.psinfo.rss", "proc.psinfo.threads",
                    "proc.psinfo.maj_flt", "proc.psinfo.minflt", "proc.io.rchar", "proc.io.wchar",
                    "proc.io.syscr", "proc.io.syscw", "proc.io.read_bytes", "proc.io.write_bytes")

    @staticmethod
    def where():
        out = subprocess.run([ROOT / "bench/fetch-pcp", "--where"], capture_output=True, text=True, check=False)
        return pathlib.Path(out.stdout.strip()) if out.returncode == 0 else None

    def missing(self):
        return None if self.where() else "PCP is not unpacked: run bench/fetch-pcp"

    def start(self, group, folder, rate, pids):
        home = self.where()
        environment = dict(os.environ, PCP_CONF=f"{home}/etc/pcp.conf", PMCD_SOCKET=f"{folder}/pmcd.socket",
                           LD_LIBRARY_PATH=f"{home}/usr/lib/x86_64-linux-gnu:{home}/usr/lib")
        quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        group.start([home / "usr/lib/pcp/bin/pmcd", "-f", "-U", "root", "-c", home / "pmcd.conf",
                     "-n", home / "var/lib/pcp/pmns/root", "-l", folder / "pmcd.log",
                     "-s", folder / "pmcd.socket", "-p", "44399", "-i", "127.0.0.1"], **quiet)
        for _ in range(100):
            if (folder / "pmcd.socket").exists():
                break
            time.sleep(0.05)
        time.sleep(0.5)
        instances = ",".join(f'"{pid:06d}"' for pid in pids)
        asked = [*self.metrics, *(f"{metric} [{instances}]" for metric in self.of_processes)]
        (folder / "pmlogger.conf").write_text(
            f"log mandatory on {round(1000 / rate)} msec {{\n" + "\n".join(asked) + "\n}\n"
            f"log mandatory on 10 sec {{\nproc.smaps.pss [{instances}]\n}}\n")  # its few records count as samples
        self.archive = folder / "archive.0"
        group.start([home / "usr/lib/pcp/bin/pmlogger", "-h", f"unix:{folder}/pmcd.socket", "-U", "root",
                     "-l", folder / "pmlogger.log", "-c", folder / "pmlogger.conf", folder / "archive"], **quiet)
        self.home, self.environment, self.folder = home, environment, folder

    def samples(self):
        """Records in the archive: each begins and ends with its length."""
        count, at = 0, 0
        with contextlib.suppress(OSError):
            data = self.archive.read_bytes()
            while at + 4 <= len(data):
                length = int.from_bytes(data[at:at + 4], "big")
                if length < 8:
                    break
                count, at = count + 1, at + length
        return count


ALL = (Psutil, Pcp, Sysstat, Collectd)
