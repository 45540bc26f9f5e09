"""Nothing that happens to the pipe harms a Python job, and lines say from whom they come when it matters."""
import os
import re
import subprocess
import sys

from progress_fifo import PYTHON_CLIENT, FifoCase, ProgressFifo, client
from trainscope_test import main

# A job that SIGPIPE ends, as many programs for a shell want it.
MINDFUL = "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"


class TroubledPipes(FifoCase):
    def test_a_full_pipe_blocks_nobody_and_is_told_exactly(self):
        self.fifo.make_small()
        job = subprocess.Popen(client("""
            import sys, trainscope
            for i in range(1000):
                trainscope.step(i)
            print("sent", flush=True)
            sys.stdin.readline()
            for i in range(1000, 1003):
                trainscope.step(i)
            """), env=self.fifo.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with job:
            self.assertEqual(job.stdout.readline(), b"sent\n")
            first = self.fifo.sent()
            job.stdin.write(b"\n")
        self.assertEqual(job.returncode, 0)
        self.assertEqual(first, [f"step {i}" for i in range(len(first))])
        self.assertTrue(0 < len(first) < 1000, len(first))
        self.assertEqual(self.fifo.sent(),
                         [f"dropped {1000 - len(first)}", "step 1000", "step 1001", "step 1002"])

    def test_a_job_that_closes_all_of_its_files_gets_nothing_into_its_own(self):
        lines = self.fifo.run_python("""
            import os, sys, trainscope
            trainscope.step(1)
            os.closerange(3, 64)
            trainscope.step(2)
            os.closerange(3, 64)
            own = [open(sys.argv[1] + str(i), "wb") for i in range(8)]
            trainscope.step(3)
            assert not any(os.path.getsize(file.name) for file in own)
            """, self.path("own"))
        self.assertEqual(lines, ["step 1", "step 2", "step 3"])

    def test_several_threads_lose_nothing_uncounted(self):
        self.fifo.make_small()
        job = subprocess.Popen(client("""
            import sys, threading, trainscope
            sys.setswitchinterval(1e-6)
            def send(name):
                for i in range(2000):
                    trainscope.scalar(name, i)
            threads = [threading.Thread(target=send, args=("n%d" % n,), name="T%d" % n) for n in range(4)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            print("sent", flush=True)
            sys.stdin.readline()
            trainscope.mark("last")
            """), env=self.fifo.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with job:
            os.set_blocking(job.stdout.fileno(), False)
            lines = self.fifo.sent_until(lambda: job.stdout.read() is not None)
            job.stdin.write(b"\n")
        lines += self.fifo.sent()
        self.assert_all_told(4 * 2000 + 1, lines)
        for n in range(4):
            numbers = [int(line.split()[2]) for line in lines if line.startswith(f"scalar n{n} ")]
            self.assertEqual(numbers, sorted(set(numbers)))

    def broken(self, before):
        """A client whose reader goes away between two lines; returns what became of it."""
        job = subprocess.Popen(client(before + """
import sys, trainscope
trainscope.step(1)
print("sent", flush=True)
sys.stdin.readline()
for i in range(3):
    trainscope.step(2)
assert not trainscope.active()
import signal
print(signal.SIGPIPE in signal.sigpending(), signal.SIGPIPE in signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""), env=self.fifo.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with job:
            self.assertEqual(job.stdout.readline(), b"sent\n")
            self.fifo.close()
            self.fifo.descriptor = os.open("/dev/null", os.O_RDONLY)
            job.stdin.write(b"\n")
            job.stdin.close()
            said = job.stdout.read().decode().strip()
        self.assertEqual(job.returncode, 0)
        return said

    def test_a_pipe_that_breaks_ends_nothing(self):
        self.assertEqual(self.broken(""), "False False")

    def test_a_pipe_that_breaks_sends_no_signal(self):
        self.assertEqual(self.broken(MINDFUL), "False False")

    def test_a_signal_that_the_job_holds_back_stays_its_own(self):
        hold = MINDFUL + "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])\n"
        pending = "import threading; signal.pthread_kill(threading.get_ident(), signal.SIGPIPE)\n"
        self.assertEqual(self.broken(hold), "False True")
        self.fifo = ProgressFifo(self.path("another"))
        self.assertEqual(self.broken(hold + pending), "True True")

    def test_a_pipe_that_is_removed_is_still_read(self):
        self.assertEqual(self.fifo.run_python("""
            import os, trainscope
            trainscope.step(1)
            os.unlink(os.environ["TRAINSCOPE_PIPE"])
            trainscope.step(2)
            if os.fork() == 0:
                trainscope.step(3)
                os._exit(0 if not trainscope.active() else 1)
            assert os.wait()[1] == 0
            """), ["step 1", "step 2"])


class Who(FifoCase):
    def test_a_forked_process_says_who_it_is_and_opens_anew(self):
        done = self.fifo.run(client("""
            import os, trainscope
            def pipes():
                paths = {fd: os.path.realpath("/proc/self/fd/" + fd) for fd in os.listdir("/proc/self/fd")}
                return [fd for fd, path in paths.items() if path == os.environ["TRAINSCOPE_PIPE"]]
            trainscope.step(1)
            assert len(pipes()) == 1
            child = os.fork()
            if child == 0:
                trainscope.phase("read", 0.5)
                os._exit(0 if len(pipes()) == 2 else 1)
            assert os.wait()[1] == 0
            trainscope.step(2)
            print(child)
            """))
        child = int(done.stdout)
        self.assertEqual(self.fifo.sent(), ["step 1", f"phase read 0.500000000 who={child}", "step 2"])

    def test_a_fork_copies_neither_count_nor_lock(self):
        self.fifo.make_small()
        job = subprocess.Popen(client("""
            import os, sys, threading, trainscope
            from trainscope import _pipe
            for i in range(1000):
                trainscope.step(i)
            print(flush=True)
            sys.stdin.readline()
            taken, forked = threading.Event(), threading.Event()
            def hold():  # as another thread may do at the moment of the fork
                with _pipe.sender().lock:
                    taken.set()
                    forked.wait()
            threading.Thread(target=hold).start()
            taken.wait()
            if os.fork() == 0:
                trainscope.mark("child")
                os._exit(0)
            assert os.wait()[1] == 0
            forked.set()
            trainscope.mark("parent")
            """), env=self.fifo.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with job:
            job.stdout.readline()
            first = self.fifo.sent()
            job.stdin.write(b"\n")
        self.assertEqual(job.returncode, 0)
        lines = self.fifo.sent()
        self.assertTrue(re.fullmatch(r"mark child who=\d+", lines[0]), lines)
        self.assertEqual(lines[1:], [f"dropped {1000 - len(first)}", "mark parent"])

    def test_multiprocessing(self):
        program = self.path("job.py")
        with open(program, "w") as file:
            file.write("import sys; sys.path.insert(0, sys.argv[1])\n"
                       "import multiprocessing, os, trainscope\n"
                       "def work():\n"
                       "    trainscope.mark('work of %d' % os.getpid())\n"
                       "if __name__ == '__main__':\n"
                       "    process = multiprocessing.get_context(sys.argv[2]).Process(target=work)\n"
                       "    process.start(); process.join(); assert process.exitcode == 0\n"
                       "    trainscope.mark('done')\n")
        for how in ("fork", "spawn", "forkserver"):
            self.fifo.run([sys.executable, "-B", program, PYTHON_CLIENT, how])
            work, done = self.fifo.sent()
            self.assertTrue(re.fullmatch(r"mark work of (\d+) who=\1", work), work)
            self.assertEqual(done, "mark done")

    def test_threads(self):
        lines = self.fifo.run_python("""
            import threading, trainscope
            def other(*what):
                thread = threading.Thread(target=what[0], args=what[1:], name="loader 1")
                thread.start()
                thread.join()
            other(trainscope.phase, "read", 0.5)
            trainscope.step(1)
            other(trainscope.phase, "read", 0.5)
            trainscope.mark("main")
            """)
        self.assertTrue(re.fullmatch(r"phase read 0.500000000 who=\d+\.loader_1", lines[0]), lines)
        self.assertEqual(lines, [lines[0], "step 1", lines[0], "mark main"])

    def test_the_first_thread_that_ends_a_step_is_the_training_thread(self):
        lines = self.fifo.run_python("""
            import threading, trainscope
            trainscope.mark("before")
            thread = threading.Thread(target=trainscope.step, args=(1,))
            thread.start()
            thread.join()
            trainscope.mark("after")
            """)
        self.assertEqual(lines[:2], ["mark before", "step 1"])
        self.assertTrue(re.fullmatch(r"mark after who=\d+\.MainThread", lines[2]), lines)

    def test_ranks(self):
        step = "import trainscope; trainscope.step(1)"
        for environment, line in (
                ({"RANK": "3"}, "step 1 who=rank3"), ({"RANK": "0", "SLURM_PROCID": "5"}, "step 1"),
                ({"SLURM_PROCID": "5"}, "step 1 who=rank5"), ({"RANK": "best"}, "step 1"),
                ({"OMPI_COMM_WORLD_RANK": "12"}, "step 1 who=rank12"), ({"RANK": ""}, "step 1"),
                # mpirun in a batch script of Slurm, and MPICH
                ({"OMPI_COMM_WORLD_RANK": "2", "SLURM_PROCID": "0"}, "step 1 who=rank2"), ({"PMI_RANK": "1"}, "step 1 who=rank1")):
            self.assertEqual(self.fifo.run_python(step, **environment), [line], environment)
        self.assertEqual(self.fifo.run_python("""
            import trainscope
            trainscope.set_who("left")
            trainscope.step(1)
            trainscope.set_who("")
            trainscope.step(2)
            """, RANK="3"), ["step 1 who=left", "step 2"])

    def test_the_handler_of_a_signal_may_send(self):
        lines = self.fifo.run_python("""
            import signal, trainscope
            trainscope.step(0)
            signal.signal(signal.SIGALRM, lambda *unused: trainscope.mark("tick"))
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            for i in range(1, 3000):
                trainscope.step(i)
            signal.setitimer(signal.ITIMER_REAL, 0)
            """)
        self.assertEqual([line for line in lines if line != "mark tick"], [f"step {i}" for i in range(3000)])


if __name__ == "__main__":
    main()
