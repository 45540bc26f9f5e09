"""The machine's numbers are the kernel's: between what its files said just before the run and just after it."""
import os
import pathlib

from trainscope_test import Case, main, metric

TICKS = os.sysconf("SC_CLK_TCK")
STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def table(path):
    """The numbers of a file whose lines are `name number…`."""
    rows = {}
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.replace(":", " ").split()
        rows[words[0]] = words[1:]
    return rows


def without_idle_states(seen):
    """Idle time and time that waits for I/O as one: where a task that waited continues on another CPU, the kernel gives
    what it has counted of a CPU's present pause to the other of these two (proc(5))."""
    joined = {}
    for (name, labels), value in seen.items():
        labels = labels.replace("state=iowait", "state=idle")
        joined[name, labels] = joined.get((name, labels), 0) + value
    return joined


def kernel():
    """What the kernel's files say now, by (metric, labels)."""
    seen = {}
    stat, vmstat = table("/proc/stat"), table("/proc/vmstat")
    for name, words in stat.items():
        if name.startswith("cpu"):
            for state, value in zip(STATES, words):
                seen["system.cpu.time", f"cpu={name[3:] or 'all'};state={state}"] = int(value) / TICKS
    seen["system.cpu.context_switches", ""] = int(stat["ctxt"][0])
    seen["system.paging.faults", "type=major"] = int(vmstat["pgmajfault"][0])
    seen["system.paging.faults", "type=minor"] = int(vmstat["pgfault"][0]) - int(vmstat["pgmajfault"][0])
    for line in pathlib.Path("/proc/diskstats").read_text().splitlines():
        words = line.split()
        for direction, ops, sectors in (("read", 3, 5), ("write", 7, 9)):
            seen["system.disk.operations", f"device={words[2]};direction={direction}"] = int(words[ops])
            seen["system.disk.io", f"device={words[2]};direction={direction}"] = int(words[sectors]) * 512
        seen["system.disk.io_time", f"device={words[2]}"] = int(words[12]) / 1000
    for name, words in table("/proc/net/dev").items():
        if words and words[0].isdigit():
            seen["system.network.io", f"device={name};direction=receive"] = int(words[0])
            seen["system.network.io", f"device={name};direction=transmit"] = int(words[8])
    return without_idle_states(seen)


class Machine(Case):
    def test_counters_lie_between_the_kernels_before_and_after(self):
        before = kernel()
        # Something of everything: CPU, faults, a file that reaches the disk, packets on the loopback.
        self.record(f"""
import os, socket, time
block = bytearray(30 << 20); block[::4096] = b"x" * len(block[::4096])
with open({self.path("data")!r}, "wb") as file: file.write(block); file.flush(); os.fsync(file.fileno())
a, b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
b.bind(("127.0.0.1", 0))
for _ in range(1000): a.sendto(bytes(1000), b.getsockname())
time.sleep(1.2)
""", "--every", "50ms")
        after = kernel()
        checked = set()
        for name in {metric for metric, _ in before}:
            at = {}
            for t, labels, value in self.rows(name):
                at.setdefault(t, {})[name, labels] = value
            rows = {}
            for t in sorted(at):
                for (_, labels), value in without_idle_states(at[t]).items():
                    rows.setdefault(labels, []).append(value)
            for labels, values in rows.items():
                if (name, labels) not in before or (name, labels) not in after:
                    continue
                low, high = before[name, labels], after[name, labels]
                # The kernel's idle time is worked out anew at each reading and may step back by a tick.
                cpus = os.cpu_count() if "cpu=all" in labels else 1
                slack = 2 * cpus / TICKS if "idle" in labels else 1e-9
                self.assertLessEqual(low - slack, values[0], f"{name} {labels}")
                self.assertLessEqual(values[-1], high + slack, f"{name} {labels}")
                self.assertTrue(all(b >= a - slack for a, b in zip(values, values[1:])), f"{name} {labels} went back")
                checked.add(name)
        self.assertEqual(checked, {metric for metric, _ in before})
        moved = self.info()
        lo = [m for m in moved["metrics"] if m["name"] == "system.network.io" and m["labels"].get("device") == "lo"]
        if lo:
            self.assertGreaterEqual(max(m["delta"] for m in lo), 1000 * 1000)
        self.assertGreaterEqual(metric(moved, "system.paging.faults", type="minor")["delta"], (30 << 20) // 4096 / 512)

    def test_memory_adds_up(self):
        lines = table("/proc/meminfo")
        self.record(["sleep", "0.3"])
        info = self.info()
        whole = int(lines["MemTotal"][0]) * 1024
        self.assertEqual(info["host"]["memory_bytes"], whole)
        states = {}
        for t, labels, value in self.rows("system.memory.usage"):
            states.setdefault(t, {})[labels] = value
        shares = dict(self.series("system.memory.utilization"))
        self.assertEqual(list(shares), list(states))
        for t, now in states.items():
            together = sum(now[f"state={state}"] for state in ("used", "free", "cached", "buffers"))
            self.assertAlmostEqual(together, whole, delta=4 * 4096)  # each is cut to whole pages
            self.assertAlmostEqual(shares[t], now["state=used"] / together, places=9)

    def test_utilisation_is_the_share_of_busy_time(self):
        self.record("import time\nend = time.time() + 0.8\nwhile time.time() < end: pass", "--every", "50ms")
        states = {}
        for t, labels, value in self.rows("system.cpu.time"):
            if labels.startswith("cpu=all;"):
                states.setdefault(t, {})[labels] = value
        seen = dict(self.series("system.cpu.utilization", "cpu=all"))
        times = sorted(states)
        expected = {}
        for before, now in zip(times, times[1:]):
            grown = {state: value - states[before][state] for state, value in states[now].items()}
            # Idle time may step back; and the kernel's own tick may not have passed.
            if min(grown.values()) >= 0 and sum(grown.values()) > 0.005:
                busy = sum(value for state, value in grown.items() if not state.endswith(("=idle", "=iowait")))
                expected[now] = busy / sum(grown.values())
        self.assertTrue(expected)
        self.assertEqual(list(seen), list(expected))
        for t, share in expected.items():
            self.assertAlmostEqual(seen[t], share, places=4)


if __name__ == "__main__":
    main()
