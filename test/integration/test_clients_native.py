"""The C and C++ headers: they compile under strict options, send what Python sends, and harm no job."""
import os
import re
import shutil
import subprocess
import textwrap
import unittest

from progress_fifo import ROOT, FifoCase, ProgressFifo, client, outside_a_run
from trainscope_test import main

C = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{ROOT}/clients/c"]
CXX = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic", f"-I{ROOT}/clients/c",
       f"-I{ROOT}/clients/cpp"]
LONG = "ä" * 3000

# The same in three languages.
IN_PYTHON = """
    import sys, trainscope
    trainscope.step()
    trainscope.step(7)
    trainscope.step(8, loss=0.31)
    trainscope.step(9, loss=float("nan"))
    trainscope.epoch(2)
    trainscope.begin("a b/c:ä")
    trainscope.end("")
    trainscope.phase("input", 0.25)
    trainscope.phase("input", -1)
    trainscope.phase("input", float("inf"))
    trainscope.batch(64)
    trainscope.batch(0)
    trainscope.scalar("learning_rate" * 20, 1e-05)
    trainscope.scalar("large", 123456789012345)
    trainscope.scalar("third", 1 / 3)
    trainscope.scalar("none", float("-inf"))
    trainscope.mark("half\\nway")
    trainscope.mark(" ")
    trainscope.mark(sys.argv[1])
    trainscope.step(10, **{"number_%d" % i: i + 0.5 for i in range(500)})
"""
IN_C = r"""
    #include "trainscope.h"
    #include <math.h>
    int main(int count, char** words) {
      char many[20000] = "step 10";
      size_t size = strlen(many);
      (void)count;
      ts_step(-1);
      ts_step(7);
      ts_step_loss(8, 0.31);
      ts_step_loss(9, -nan(""));
      ts_epoch(2);
      ts_begin("a b/c:ä");
      ts_end("");
      ts_phase("input", 0.25);
      ts_phase("input", -1);
      ts_phase("input", INFINITY);
      ts_batch(64);
      ts_batch(0);
      ts_scalar(words[2], 1e-5);
      ts_scalar("large", 123456789012345);
      ts_scalar("third", 1 / 3.0);
      ts_scalar("none", -INFINITY);
      ts_mark("half\nway");
      ts_mark(" ");
      ts_mark(words[1]);
      for (int i = 0; i < 500; ++i)
        size += (size_t)snprintf(many + size, sizeof many - size, " number_%d=%.1f", i, i + 0.5);
      ts_send("%s", many);
      return errno;
    }
"""
IN_CXX = r"""
    #include "trainscope.hpp"
    #include <cmath>
    #include <string>
    int main(int, char** words) {
      using namespace std::chrono_literals;
      trainscope::step();
      trainscope::step(7);
      trainscope::step(8, {{"loss", 0.31}});
      trainscope::step(9, {{"loss", std::nanf("")}});
      trainscope::epoch(2);
      trainscope::begin("a b/c:ä");
      trainscope::end("");
      trainscope::phase("input", 250ms);
      trainscope::phase("input", -1s);
      trainscope::phase("input", std::chrono::duration<double>(INFINITY));
      trainscope::batch(64);
      trainscope::batch(0);
      trainscope::scalar(words[2], 1e-5);
      trainscope::scalar("large", 123456789012345);
      trainscope::scalar("third", 1 / 3.0);
      trainscope::scalar("none", -INFINITY);
      trainscope::mark("half\nway");
      trainscope::mark(" ");
      trainscope::mark(words[1]);
      std::string many = "step 10";
      for (int i = 0; i < 500; ++i) many += " number_" + std::to_string(i) + "=" + std::to_string(i) + ".5";
      ts_send("%s", many.c_str());
      return errno;
    }
"""


class Native(FifoCase):
    def build(self, compiler, source, *options, name="job"):
        """The path of a program; skips where there is no compiler."""
        if not shutil.which(compiler[0]):
            raise unittest.SkipTest(f"{compiler[0]} is missing (Debian: apt install g++)")
        suffix = ".c" if compiler[0] == "cc" else ".cpp"
        with open(self.path(name + suffix), "w") as file:
            file.write(textwrap.dedent(source))
        done = subprocess.run([*compiler, file.name, "-o", self.path(name), *options], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def start(self, words, **environment):
        job = subprocess.Popen(words, env=self.fifo.environment(**environment), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        self.addCleanup(job.wait)
        self.addCleanup(job.stdout.close)
        return job


class SameLines(Native):
    def expected(self):
        self.fifo.run(client(IN_PYTHON, LONG))
        lines = self.fifo.sent()
        self.assertEqual(len(lines), 16)
        return lines

    def test_c(self):
        program = self.build(C, IN_C)
        self.fifo.run([program, LONG, "learning_rate" * 20])
        self.assertEqual(self.fifo.sent(), self.expected())

    def test_cxx(self):
        program = self.build(CXX, IN_CXX)
        self.fifo.run([program, LONG, "learning_rate" * 20])
        self.assertEqual(self.fifo.sent(), self.expected())

    def test_what_only_cxx_has(self):
        program = self.build(CXX, """
            #include "trainscope.hpp"
            int main() {
              const int items = 3;
              const float loss = 0.5F;
              trainscope::step({{"loss", loss}, {"items", items}, {"t", 1}});
              trainscope::step(2, {{"loss", loss}}, trainscope::Set::validation);
              trainscope::epoch(1, {{"val_loss", loss}});
              trainscope::scalar("accuracy", 1, trainscope::Set::test);
              { trainscope::Phase phase("forward"); }
              trainscope::flush();
              const int made = trainscope::timed("input", [&] { return items; });
              trainscope::timed("input", [] {});
              try {
                trainscope::timed("input", []() -> int { throw 1; });
              } catch (int) {
              }
              return trainscope::active() && made == 3 ? 0 : 1;
            }
            """)
        self.fifo.run([program])
        self.assertEqual([re.sub(r"input 0\.\d{9}$", "input", line) for line in self.fifo.sent()],
                         ["step loss=0.5 items=3 t_=1", "step 2 loss=0.5 set=validation",
                          "epoch 1 val_loss=0.5", "scalar accuracy 1 set=test",
                          "begin forward", "end forward", "phase input", "phase input"])

    def test_other_standards(self):
        one = '#include "trainscope.h"\nint main(void) { ts_step(1); return 0; }\n'
        for compiler, standards in ((C, ("gnu99", "c11", "gnu17")), (CXX, ("gnu++17", "c++20"))):
            for standard in standards:
                self.build([compiler[0], f"-std={standard}", *compiler[2:], "-O2", "-Wconversion"], one)


class Surroundings(Native):
    def test_outside_a_run(self):
        program = self.build(C, """
            #include "trainscope.h"
            int main(void) {
              errno = 7;
              ts_step(1);
              ts_mark("a");
              return ts_active() || errno != 7 || open("/dev/null", O_RDONLY) != 3;
            }
            """)
        with open(self.path("file"), "w") as file:
            file.write("precious")
        for pipe in ({}, {"TRAINSCOPE_PIPE": ""}, {"TRAINSCOPE_PIPE": self.path("nothing")},
                     {"TRAINSCOPE_PIPE": self.path("file")}):
            subprocess.run([program], env=outside_a_run(**pipe), check=True, timeout=60)
        with open(self.path("file")) as file:
            self.assertEqual(file.read(), "precious")

    def sent_before_and_after(self, program):
        """What lies in a small pipe when the program says "sent", and what comes once that was read."""
        self.fifo.make_small()
        job = self.start([program])
        self.assertEqual(job.stdout.readline(), b"sent\n")
        first = self.fifo.sent()
        job.communicate(b"\n")
        return first, self.fifo.sent()

    def test_a_full_pipe(self):
        program = self.build(C, """
            #include "trainscope.h"
            int main(void) {
              for (int i = 0; i < 1000; ++i) ts_step(i);
              puts("sent");
              fflush(stdout);
              getchar();
              ts_step(1000);
              ts_step(1001);
              return 0;
            }
            """)
        first, rest = self.sent_before_and_after(program)
        # A few may find room again before anything was read: lines of a flood go together, and fewer need less.
        self.assertGreater(self.assert_each_came_or_was_counted(1002, first + rest), 500)
        self.assertEqual(rest[-2:], ["step 1000", "step 1001"])

    def test_the_end_of_a_flood(self):
        program = self.build(C, """
            #include "trainscope.h"
            int main(int count, char** words) {
              (void)words;
              for (int i = 1; i <= 500; ++i) ts_step(i);
              if (count > 1) {
                if (fork() == 0) return 0;  /* has a copy of what waits, and must not write it */
                sleep(1);
                ts_step(501);
                pause();
              }
              return 0;
            }
            """)
        self.fifo.run([program])
        self.assertEqual(self.fifo.sent(), [f"step {i}" for i in range(1, 501)])
        job = self.start([program, "forks and stays"])
        lines = []
        while len(lines) < 501:
            lines += self.fifo.sent()
        job.kill()
        job.communicate()
        self.assertEqual(lines, [f"step {i}" for i in range(1, 502)])

    def test_what_begins_a_silence_does_not_wait(self):
        program = self.build(C, """
            #include "trainscope.h"
            int main(void) {
              for (int i = 1; i <= 500; ++i) ts_step(i);
              ts_begin("evaluation");
              ts_step(501);
              ts_flush();
              raise(SIGTERM);
              return 0;
            }
            """)
        job = self.start([program])
        job.communicate()
        self.assertEqual(self.fifo.sent(), [f"step {i}" for i in range(1, 501)] + ["begin evaluation", "step 501"])

    def test_what_was_lost_is_told_at_the_end(self):
        program = self.build(C, """
            #include "trainscope.h"
            int main(void) {
              const struct timespec a_while = {0, 2000000};
              for (int i = 0; i < 300; ++i) {
                ts_step(i);
                nanosleep(&a_while, NULL);
              }
              puts("sent");
              fflush(stdout);
              getchar();
              return 0;
            }
            """)
        first, rest = self.sent_before_and_after(program)
        self.assert_each_came_or_was_counted(300, first + rest)
        self.assertRegex(rest[0], r"^dropped \d+$")

    def test_a_small_stack(self):
        program = self.build(C, """
            #include "trainscope.h"
            #include <limits.h>
            #include <pthread.h>
            static void* work(void* nothing) {
              for (int i = 1; i <= 500; ++i) ts_step_loss(i, 0.5);
              return nothing;
            }
            int main(void) {
              pthread_t thread;
              pthread_attr_t attributes;
              pthread_attr_init(&attributes);
              if (pthread_attr_setstacksize(&attributes, 16384) != 0) return 1;
              if (pthread_create(&thread, &attributes, work, NULL) != 0) return 2;
              return pthread_join(thread, NULL);
            }
            """, "-pthread")
        self.fifo.run([program])
        self.assertEqual(len(self.fifo.sent()), 500)

    def broken(self, program, *words):
        """The exit status of a program whose reader goes away."""
        job = self.start([program, *words])
        self.assertEqual(job.stdout.readline(), b"sent\n")
        self.fifo.close()
        self.fifo.descriptor = os.open("/dev/null", os.O_RDONLY)
        job.communicate(b"\n")
        return job.returncode

    def test_a_pipe_that_breaks(self):
        program = self.build(C, """
            #include "trainscope.h"
            int main(int count, char** words) {
              sigset_t set;
              (void)words;
              sigemptyset(&set);
              sigaddset(&set, SIGPIPE);
              if (count > 1) pthread_sigmask(SIG_BLOCK, &set, NULL);
              if (count > 2) raise(SIGPIPE);
              ts_step(1);
              puts("sent");
              fflush(stdout);
              getchar();
              ts_step(2);
              ts_step(3);
              if (ts_active()) return 1;
              sigpending(&set);
              if (sigismember(&set, SIGPIPE) != (count > 2)) return 2;
              pthread_sigmask(SIG_BLOCK, NULL, &set);
              return sigismember(&set, SIGPIPE) == (count > 1) ? 0 : 3;
            }
            """)
        self.assertEqual(self.broken(program), 0)
        for words in (["held"], ["held", "pending"]):
            self.fifo = ProgressFifo(self.path(words[-1]))
            self.assertEqual(self.broken(program, *words), 0, words)

    def test_a_forked_process(self):
        program = self.build(C, """
            #include "trainscope.h"
            #include <sys/wait.h>
            int main(void) {
              int status;
              pid_t child;
              ts_state_2.dropped = 5;
              child = fork();
              if (child == 0) {
                ts_mark("before the parent");
                _exit(0);
              }
              wait(&status);
              ts_step(1);
              ts_state_2.lock = (int)getpid();  /* as another thread may hold it at the moment of the fork */
              ts_state_2.dropped = 5;
              child = fork();
              if (child == 0) {
                ts_mark("after it");
                _exit(0);
              }
              wait(&status);
              ts_state_2.lock = 0;
              ts_step(2);
              return status;
            }
            """)
        self.fifo.run([program])
        lines = self.fifo.sent()
        self.assertEqual([re.sub(r"who=\d+$", "who=PID", line) for line in lines],
                         ["mark before the parent who=PID", "step 1", "mark after it who=PID",
                          "dropped 5", "step 2"])

    def test_threads_and_ranks(self):
        program = self.build(C, """
            #include "trainscope.h"
            #include <pthread.h>
            static void* work(void* name) {
              const struct timespec a_while = {0, 5000000};
              for (int i = 0; i < 5000; ++i) {
                ts_scalar((const char*)name, i);
                if (i % 500 == 0) nanosleep(&a_while, NULL);
              }
              return NULL;
            }
            int main(void) {
              static char names[4][8] = {"a", "b", "c", "d"};
              pthread_t threads[4];
              ts_step(1);
              for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, names[i]);
              for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
              puts("sent");
              fflush(stdout);
              getchar();
              ts_step(2);
              return 0;
            }
            """, "-pthread")
        self.fifo.make_small()
        job = self.start([program], OMPI_COMM_WORLD_RANK="2", SLURM_PROCID="0")
        os.set_blocking(job.stdout.fileno(), False)
        lines = self.fifo.sent_until(lambda: job.stdout.read() is not None)
        job.communicate(b"\n")
        lines += self.fifo.sent()
        self.assertEqual((lines[0], lines[-1]), ("step 1 who=rank2", "step 2 who=rank2"))
        self.assert_all_told(20002, lines)
        said = {line.split()[-1] for line in lines[1:-1] if line.startswith("scalar")}
        self.assertEqual(said, {f"who={job.pid}.{n}" for n in (2, 3, 4, 5)})

    def test_threads_with_names(self):
        program = self.build(CXX, """
            #include "trainscope.hpp"
            #include <string>
            #include <thread>
            int main() {
              using namespace std::chrono_literals;
              std::thread([] {
                trainscope::set_who("loader 0");
                trainscope::phase("read", 1ms);
                trainscope::set_who(std::string(100, 'x'));
                trainscope::phase("read", 1ms);
              }).join();
              trainscope::phase("input", 1ms);  // the first without a name is the training thread
              std::thread([] {
                trainscope::set_who("a");
                trainscope::set_who("");
                trainscope::phase("other", 1ms);
              }).join();
              trainscope::step(1);
              ts_set_who("main");
              trainscope::step(2);
              ts_set_who(NULL);
              trainscope::step(3);
            }
            """, "-pthread")
        self.fifo.run([program])
        self.assertEqual([re.sub(r"who=\d+\.", "who=PID.", line) for line in self.fifo.sent()],
                         ["phase read 0.001000000 who=loader_0", f"phase read 0.001000000 who={'x' * 31}",
                          "phase input 0.001000000", "phase other 0.001000000 who=PID.2",
                          "step 1", "step 2 who=main", "step 3"])

    def test_several_files_are_one_sender(self):
        first = self.build(C, """
            #include "trainscope.h"
            void first(void);
            void first(void) { ts_step(1); }
            """, "-c", name="first")
        second = self.build(CXX, """
            #include "trainscope.hpp"
            extern "C" void first(void);
            int main() {
              first();
              trainscope::step(2);
              return open("/dev/null", O_RDONLY) != 4;
            }
            """, "-x", "none", first, name="second")
        self.fifo.run([second])
        self.assertEqual(self.fifo.sent(), ["step 1", "step 2"])

    def test_a_locale_with_a_decimal_comma(self):
        program = self.build(C, """
            #include "trainscope.h"
            #include <locale.h>
            int main(int count, char** words) {
              if (count != 2 || setlocale(LC_ALL, words[1]) == NULL) return 1;
              ts_scalar("a", 0.5);
              ts_phase("b", 1.25);
              return strcmp(localeconv()->decimal_point, ",") == 0 ? 0 : 1;
            }
            """)
        if shutil.which("localedef"):
            subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", self.path("de_DE.UTF-8")], capture_output=True)
        # Without the sources of locales it makes an empty folder, or one that has not all of it.
        if subprocess.run([program, "de_DE.UTF-8"], env={"LOCPATH": self.folder}).returncode != 0:
            raise unittest.SkipTest("no locale with a comma can be made (Debian: apt install locales)")
        self.fifo.run([program, "de_DE.UTF-8"], LOCPATH=self.folder)
        self.assertEqual(self.fifo.sent(), ["scalar a 0.5", "phase b 1.250000000"])


if __name__ == "__main__":
    main()
