"""A job cannot tell from its surroundings that it is recorded, but by the variables TRAINSCOPE_*."""
import json
import os
import resource
import signal
import subprocess
import threading

from trainscope_test import Case, main, python

# Prints everything that a process inherits.
LOOK = """
import json, os, resource, signal, sys
def status(*names):
    lines = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
    return {name: lines.get(name) for name in names}
def descriptors():
    listing = os.open("/proc/self/fd", os.O_RDONLY)
    return sorted(int(fd) for fd in os.listdir(listing) if int(fd) != listing and os.path.exists(f"/proc/self/fd/{fd}"))
mask = os.umask(0); os.umask(mask)
print(json.dumps({
    "environment": {k: v for k, v in os.environ.items() if not k.startswith("TRAINSCOPE_")},
    "ours": sorted(k for k in os.environ if k.startswith("TRAINSCOPE_") and k != "TRAINSCOPE_HOME"),
    "umask": mask, "folder": os.getcwd(), "nice": os.nice(0), "session": os.getsid(0), "group": os.getpgrp(),
    "limits": {n: resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")},
    "oom": open("/proc/self/oom_score_adj").read(), "affinity": sorted(os.sched_getaffinity(0)),
    "policy": os.sched_getscheduler(0), "descriptors": descriptors(),
    "caps": status("CapInh", "CapPrm", "CapEff", "NoNewPrivs", "Seccomp"),
    "groups": [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()], "terminal": [os.isatty(i) for i in (0, 1, 2)],
    "slack": open("/proc/self/timerslack_ns").read(), "arguments": sys.argv,
}))
"""


def looking(*arguments):
    """A job that looks; Python changes some dispositions of signals, so these are taken before it starts."""
    signals = """exec "$@" "$(grep -E 'Sig(Blk|Ign)' /proc/self/status)" """
    return ["sh", "-c", signals, "sh", *python(LOOK, *arguments)]


def changed():
    """Surroundings that a careless wrapper would lose."""
    os.umask(0o027)
    os.nice(3)
    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD, signal.SIGCONT, signal.SIGWINCH})
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("300")


class Surroundings(Case):
    def look(self, words, **keywords):
        done = subprocess.run(words, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                              **keywords)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def assert_same(self, seen, bare):
        for key in bare:
            if key != "ours":
                self.assertEqual(seen[key], bare[key], key)
        self.assertEqual(seen["ours"], ["TRAINSCOPE_PIPE", "TRAINSCOPE_RUN_ID"])

    def test_plain(self):
        job = looking("two words", "", "--", "é")
        self.assert_same(self.look(self.run_words(job))[0], self.look(job)[0])

    def test_changed_by_the_caller(self):
        # SIGCHLD blocked by the caller must not keep the run from ending.
        job = looking()
        keywords = {"preexec_fn": changed, "restore_signals": False, "start_new_session": False}
        self.assert_same(self.look(self.run_words(job), **keywords)[0], self.look(job, **keywords)[0])

    def test_descriptors_of_the_caller_are_passed_and_no_others(self):
        fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(3)]
        job = looking()
        self.assert_same(self.look(self.run_words(job), pass_fds=fds[1:])[0], self.look(job, pass_fds=fds[1:])[0])
        for fd in fds:
            os.close(fd)

    def test_every_run_of_a_series_is_alike(self):
        job = looking()
        bare = self.look(job)[0]
        runs = self.look(self.run_words(job, "--repeat", "3"))
        self.assertEqual(len(runs), 3)
        for seen in runs:
            self.assert_same(seen, bare)

    def test_a_parent_that_ignores_its_children(self):
        words = self.run_words(["sh", "-c", "exit 6"])
        done = subprocess.run(["sh", "-c", "trap '' CHLD; \"$@\"; echo $?", "sh", *words], env=self.environment(),
                              capture_output=True, timeout=60)
        self.assertIn(done.stdout, (b"6\n",), done)

    def limited(self, limits, job="exit 5"):
        words = ["sh", "-c", f"{limits}; exec \"$@\"", "sh", *self.run_words(["sh", "-c", job])]
        return subprocess.run(words, env=self.environment(), capture_output=True, timeout=60)

    def test_few_descriptors(self):
        self.assertEqual(self.limited("ulimit -n 64").returncode, 5)

    def test_too_few_descriptors_are_our_failure_and_not_the_jobs(self):
        mark = self.path("started")
        codes = {}
        for count in range(6, 40):
            done = self.limited(f"ulimit -n {count}", f"touch {mark}; exit 5")
            codes[count] = done.returncode
            self.assertEqual(os.path.exists(mark), done.returncode == 5, (count, done))
            if os.path.exists(mark):
                os.unlink(mark)
        # 126 and 127 are of commands that cannot be executed.
        self.assertEqual(set(codes.values()), {5, 125}, codes)

    def test_small_files(self):
        # A limit on the size of files must not end us instead of the job.
        self.assertEqual(self.limited("ulimit -f 16", "sleep 1.3; exit 5").returncode, 5)

    def test_no_files_at_all(self):
        done = self.limited("ulimit -f 0")
        self.assertEqual(done.returncode, 5, done)
        self.assertIn(b"the job is not recorded", done.stderr)

    def test_many_at_once_have_ids_of_their_own(self):
        def one(k):
            codes[k] = subprocess.run(self.run_words(["sh", "-c", f"exit {k % 7}"], "--id-file", self.path(f"id{k}")),
                                      env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=240).returncode
        codes = {}
        threads = [threading.Thread(target=one, args=(k,)) for k in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(codes, {k: k % 7 for k in range(64)})
        ids = set()
        for k in range(64):
            with open(self.path(f"id{k}")) as file:
                ids.add(file.read().strip())
        self.assertEqual(len(ids), 64)
        runs = json.loads(self.trainscope("list", "--json").stdout)["runs"]
        self.assertEqual({r["id"] for r in runs if r["status"] == "ended"}, ids)


if __name__ == "__main__":
    main()
