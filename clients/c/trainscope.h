// Reports training progress to Trainscope, from C and C++: include this file, call ts_step() at
// each step.
//
// For: a job under `trainscope run`. Each function sends one line of docs/guide/progress.md to the
// FIFO in TRAINSCOPE_PIPE, with the timestamp of the call. Outside a run it returns at once.
//
// Guarantees: never blocks, never fails, never ends the job (SIGPIPE is blocked during a write and
// removed), leaves errno unchanged, may be called from any thread. Lines that cannot be written at
// once are counted, and `dropped N` is sent before the next line that succeeds. After a fork the
// child opens the FIFO again. Up to 1,000 lines per second are written one by one; above that, the
// lines of a millisecond are batched, each with its own timestamp: a line then costs the job 0.1 to
// 0.3 us instead of 3.
//
// Sender: the process that loaded this first and its training thread (the first to end a step;
// before that, the first to send) have no who. Another thread has who=PID.NUMBER, a forked process
// who=PID, and if the first of RANK, OMPI_COMM_WORLD_RANK, MV2_COMM_WORLD_RANK, PMI_RANK and
// SLURM_PROCID that is set is N > 0, who=rankN. ts_set_who() overrules that for the thread that
// calls it.
//
// Limits: Linux, GCC or Clang, C99 or later; with -std=c99 include it before any other header. A
// glibc older than 2.32 needs -pthread. Not for signal handlers. A line has at most 4,096 bytes: a
// longer text is cut between characters, other lines between words. Names have at most 128 letters,
// digits and _ . / : - ; other bytes become _. A job that closes descriptors which it did not open
// must do so before the first line. The end of a burst waits for the next line, for exit() or for
// ts_flush(): if a signal ends the job, or it calls exec() or _exit(), the last 4 KiB may be lost.
// Marks, epochs and the begin of a checkpoint or an evaluation do not wait.
#ifndef TRAINSCOPE_H_
#define TRAINSCOPE_H_

#if defined(__STRICT_ANSI__) && !defined(__cplusplus) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L  // -std=c99 hides clock_gettime() and the rest otherwise
#endif

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

// The public functions. A number below 0 stands for "one more than the last": the recorder counts.
static inline int ts_active(void);  // 1 in a run, with the pipe open
static inline void ts_step(long long number);
static inline void ts_step_loss(long long number, double loss);
static inline void ts_epoch(long long number);
static inline void ts_begin(const char* phase);
static inline void ts_end(const char* phase);
static inline void ts_phase(const char* phase, double seconds);  // ends now
static inline void ts_batch(long long items);
static inline void ts_scalar(const char* name, double value);
static inline void ts_mark(const char* text);
// Any line, as printf writes it: ts_send("step %d loss=%g accuracy=%g", n, loss, accuracy). The
// program's locale must have a decimal point, not a comma; the functions above do not mind.
static inline void ts_send(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Writes waiting lines: before exec(), _exit() or a long silence after more than 1,000 lines per
// second.
static inline void ts_flush(void);
// The name of the calling thread in its own lines, who=NAME, at most 31 letters; NULL or "" ends
// it.
static inline void ts_set_who(const char* name);

// Everything below is how.

// A write of TS_LINE_BYTES = PIPE_BUF is never torn. Of lines written one by one there may be one
// each TS_PACE_NS, and TS_BURST_NS / TS_PACE_NS more after a quiet time.
enum {
  TS_LINE_BYTES = 4096,
  TS_NAME_BYTES = 128,
  TS_WHO_BYTES = 32,
  TS_TAIL_BYTES = 96,
  TS_FRONT_BYTES = 128,
  TS_BATCH_BYTES = TS_LINE_BYTES - TS_FRONT_BYTES
};
enum { TS_PACE_NS = 1000000, TS_BURST_NS = 100000000, TS_LOCK_NS = 10000000 };

struct ts_state {
  int lock;             // the process that has it; 0 if free
  int main_process;     // the first that loaded this
  int process;          // the process of the other fields: another one after a fork
  int descriptor;       // -1: nothing is sent
  int threads;          // how many have sent
  int training_thread;  // by the order in which they first sent
  int has_stepped;
  long long dropped;
  char who[24];        // of the training thread
  long long paced_ns;  // the lines written so far, at one each TS_PACE_NS, last until here
  long long waiting;   // lines in `text`
  size_t size;
  int lock_failures;
  // Space for the number of lost lines, then complete lines that are not written yet.
  char text[TS_FRONT_BYTES + TS_LINE_BYTES];
};

struct ts_thread {
  int process;
  int number;
};

// Weak: one for the whole program, however many files include this. Another layout has another
// name: a program may be made of files with different versions of this one.
__attribute__((weak)) struct ts_state ts_state_2;
__attribute__((weak)) __thread struct ts_thread ts_thread_2;
__attribute__((weak)) __thread char ts_thread_who_1[TS_WHO_BYTES];

// The end of every line: " t=… who=…\n".
struct ts_tail {
  size_t size;
  char text[TS_TAIL_BYTES];
};

struct ts_line {
  long long time_ns;
  size_t size;
  char text[TS_LINE_BYTES];
};

__attribute__((constructor)) static void ts_note_process_(void) {
  if (ts_state_2.main_process == 0) ts_state_2.main_process = (int)getpid();
}

static inline long long ts_now_(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

// A lock of another process was copied by a fork, without the thread that has it.
static inline int ts_try_lock_(int process) {
  int holder = __atomic_load_n(&ts_state_2.lock, __ATOMIC_RELAXED);
  if (holder == process || !__atomic_compare_exchange_n(&ts_state_2.lock, &holder, process, 0,
                                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return 0;
  __atomic_store_n(&ts_state_2.lock_failures, 0, __ATOMIC_RELAXED);
  return 1;
}

// 0 if it cannot be taken: a thread that was cancelled with the lock keeps it for ever, and after
// three such failures in a row nothing more is sent.
static inline int ts_lock_(int process) {
  long long until_ns;
  if (ts_try_lock_(process)) return 1;
  until_ns = ts_now_() + TS_LOCK_NS;
  do {
    sched_yield();
    if (ts_try_lock_(process)) return 1;
  } while (ts_now_() < until_ns);
  if (__atomic_add_fetch(&ts_state_2.lock_failures, 1, __ATOMIC_RELAXED) >= 3)
    __atomic_store_n(&ts_state_2.descriptor, -1, __ATOMIC_RELAXED);
  return 0;
}

static inline void ts_unlock_(void) { __atomic_store_n(&ts_state_2.lock, 0, __ATOMIC_RELEASE); }

// -1 if there is no run, no reader, or a file that is not a FIFO and would be overwritten.
static inline int ts_open_pipe_(void) {
  struct stat status;
  const char* path = getenv("TRAINSCOPE_PIPE");
  const int descriptor =
      path == NULL || *path == '\0' ? -1 : open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode))) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

static inline long ts_rank_(void) {
  // Of the innermost launcher first: mpirun in a batch script of Slurm leaves SLURM_PROCID at 0.
  static const char* const kVariables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK",
                                           "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof kVariables / sizeof kVariables[0]; ++i) {
    const char* text = getenv(kVariables[i]);
    if (text != NULL && *text != '\0' && strspn(text, "0123456789") == strlen(text))
      return strtol(text, NULL, 10);
  }
  return 0;
}

// With the lock held: resets everything about this process.
static inline void ts_begin_process_(struct ts_state* state, int process) {
  const long rank = ts_rank_();
  state->who[0] = '\0';
  if (process != state->main_process)
    snprintf(state->who, sizeof state->who, "%d", process);
  else if (rank > 0)
    snprintf(state->who, sizeof state->who, "rank%ld", rank);
  state->threads = 0;
  state->training_thread = 1;
  state->has_stepped = 0;
  state->lock_failures = 0;
  state->paced_ns = 0;
  state->waiting = 0;  // a fork copied lines that its parent will write
  state->size = 0;
  __atomic_store_n(&state->dropped, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&state->descriptor, ts_open_pipe_(), __ATOMIC_RELAXED);
  __atomic_store_n(&state->process, process, __ATOMIC_RELEASE);
}

static inline int ts_active(void) {
  struct ts_state* state = &ts_state_2;
  const int process = (int)getpid();
  const int error = errno;
  if (__atomic_load_n(&state->process, __ATOMIC_ACQUIRE) != process) {
    if (!ts_lock_(process)) return 0;
    if (state->process != process) ts_begin_process_(state, process);
    ts_unlock_();
    errno = error;
  }
  return __atomic_load_n(&state->descriptor, __ATOMIC_RELAXED) >= 0;
}

// 1: written; 0: the pipe is full; -1: there is no reader. SIGPIPE would end the job, and ignoring
// it for the process would keep the job running when its own output is closed, so it is blocked
// only here.
static inline int ts_write_(int descriptor, const char* text, size_t size) {
  const struct timespec at_once = {0, 0};
  sigset_t pipe_signal, before, pending;
  ssize_t written;
  int error;
  sigemptyset(&pipe_signal);
  sigemptyset(&pending);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  if (sigismember(&before, SIGPIPE)) sigpending(&pending);
  do {
    written = write(descriptor, text, size);
    error = errno;
  } while (written < 0 && error == EINTR);
  if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
    while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR) {
    }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return written >= 0 ? 1 : error == EAGAIN ? 0 : -1;
}

// Bytes as they are, as many as fit: a line that is too long is cut when it is finished.
static inline void ts_put_(struct ts_line* line, const char* text, size_t size) {
  const size_t room = sizeof line->text - line->size;
  if (size > room) size = room;
  memcpy(line->text + line->size, text, size);
  line->size += size;
}

static inline void ts_put_name_(struct ts_line* line, const char* name, size_t size) {
  static const char kLetters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-";
  if (size == 0) ts_put_(line, "_", 1);
  for (size_t i = 0; i < size && i < TS_NAME_BYTES; ++i)
    ts_put_(line, name[i] != '\0' && strchr(kLetters, name[i]) != NULL ? name + i : "_", 1);
}

// A number that is not below 0; returns how many bytes it took, at most 20.
static inline size_t ts_digits_(char* to, long long number) {
  char digits[24];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  memcpy(to, digits + at, sizeof digits - at);
  return sizeof digits - at;
}

static inline void ts_put_count_(struct ts_line* line, long long number) {
  char text[24] = " ";
  if (number >= 0) ts_put_(line, text, 1 + ts_digits_(text + 1, number));
}

// A number as snprintf() wrote it, but with a point, whatever the program's locale has.
static inline void ts_put_decimal_(struct ts_line* line, const char* text) {
  int is_after_point = 0;
  for (; *text != '\0'; ++text) {
    const int is_ours = strchr("0123456789+-einfa", *text) != NULL;
    if (is_ours)
      ts_put_(line, text, 1);
    else if (!is_after_point)
      ts_put_(line, ".", 1);
    is_after_point = !is_ours;
  }
}

static inline void ts_put_real_(struct ts_line* line, double value) {
  char text[64];
  snprintf(text, sizeof text, "%.15g", value);
  ts_put_decimal_(line, value != value ? "nan" : text);  // snprintf() may write -nan
}

// NAME=NUMBER; a name that equals a key gets a _ appended.
static inline void ts_put_number_(struct ts_line* line, const char* name, size_t size,
                                  double value) {
  const int is_key = (size == 1 && name[0] == 't') || (size == 3 && memcmp(name, "who", 3) == 0) ||
                     (size == 3 && memcmp(name, "set", 3) == 0);
  ts_put_(line, " ", 1);
  ts_put_name_(line, name, size);
  ts_put_(line, is_key ? "_=" : "=", is_key ? 2 : 1);
  ts_put_real_(line, value);
}

// The timestamp of the call, and the first word; 0 if there is no reader.
static inline int ts_start_(struct ts_line* line, const char* word) {
  if (!ts_active()) return 0;
  line->time_ns = ts_now_();
  line->size = 0;
  ts_put_(line, word, strlen(word));
  return 1;
}

static inline void ts_set_who(const char* name) {
  struct ts_line line;
  line.size = 0;
  if (name != NULL && *name != '\0') ts_put_name_(&line, name, strlen(name));
  if (line.size >= TS_WHO_BYTES) line.size = TS_WHO_BYTES - 1;
  memcpy(ts_thread_who_1, line.text, line.size);
  ts_thread_who_1[line.size] = '\0';
}

// With the lock held; `who` is the sender name of this thread. A thread with a name of its own is
// not numbered: it cannot be mistaken for the training thread when it is the first to send.
static inline void ts_make_tail_(struct ts_tail* tail, struct ts_state* state, int is_step,
                                 long long time_ns) {
  struct ts_thread* thread = &ts_thread_2;
  const char* who = ts_thread_who_1[0] != '\0' ? ts_thread_who_1 : state->who;
  char* at = tail->text;
  if (who == state->who && thread->process != state->process) {
    thread->process = state->process;
    thread->number = ++state->threads;
  }
  if (is_step && !state->has_stepped) {
    state->has_stepped = 1;
    state->training_thread = thread->number;
  }
  memcpy(at, " t=", 3);
  at += 3 + ts_digits_(at + 3, time_ns);
  if (who == state->who && thread->number != state->training_thread) {
    memcpy(at, " who=", 5);
    at += 5 + ts_digits_(at + 5, state->process);
    *at++ = '.';
    at += ts_digits_(at, thread->number);
  } else if (who[0] != '\0') {
    const size_t size = strlen(who);
    memcpy(at, " who=", 5);
    memcpy(at + 5, who, size);
    at += 5 + size;
  }
  *at++ = '\n';
  tail->size = (size_t)(at - tail->text);
}

// Where a line that is too long ends: before `room`, between characters of a mark, otherwise
// between words, because half a number would be another number.
static inline size_t ts_cut_(const struct ts_line* line, size_t room) {
  const int is_mark = line->size >= 5 && memcmp(line->text, "mark ", 5) == 0;
  if (line->size <= room) return line->size;
  if (is_mark)
    while (room > 0 && ((unsigned char)line->text[room] & 0xC0) == 0x80) --room;
  else
    while (room > 0 && line->text[room] != ' ') --room;
  return room;
}

// With the lock held. 1: delivered; 0: not.
static inline int ts_deliver_(struct ts_state* state, const char* text, size_t size) {
  const int written = state->descriptor < 0 ? -1 : ts_write_(state->descriptor, text, size);
  if (written < 0 && state->descriptor >= 0) {
    close(state->descriptor);
    __atomic_store_n(&state->descriptor, -1, __ATOMIC_RELAXED);
  }
  return written != 0;
}

// With the lock held: writes waiting lines, after the number of lines lost before, or counts them.
static inline void ts_flush_(struct ts_state* state, const struct ts_tail* tail) {
  long long lost = __atomic_load_n(&state->dropped, __ATOMIC_RELAXED);
  char* begin = state->text + TS_FRONT_BYTES;
  char report[TS_FRONT_BYTES] = "dropped ";
  size_t size = 8;
  if (lost > 0) {
    size += ts_digits_(report + size, lost);
    memcpy(report + size, tail->text, tail->size);
    size += tail->size;
  }
  if (lost <= 0 || size + state->size > TS_LINE_BYTES) {
    size = 0;  // if a line fills the space alone, the lost lines are reported with the next
    lost = 0;
  }
  begin -= size;
  memcpy(begin, report, size);
  if (size + state->size > 0)
    __atomic_fetch_add(&state->dropped,
                       ts_deliver_(state, begin, size + state->size) ? -lost : state->waiting,
                       __ATOMIC_RELAXED);
  state->waiting = 0;
  state->size = 0;
}

// With the lock held: writes waiting lines, and the number of lost lines that were not reported
// yet.
static inline void ts_flush_now_(struct ts_state* state) {
  struct ts_tail tail;
  ts_make_tail_(&tail, state, 0, ts_now_());
  ts_flush_(state, &tail);
}

// With the lock held: 1 if a line may be written on its own now.
static inline int ts_is_calm_(struct ts_state* state, long long now_ns) {
  if (state->paced_ns < now_ns) state->paced_ns = now_ns;
  if (state->paced_ns - now_ns > TS_BURST_NS) return 0;
  state->paced_ns += TS_PACE_NS;
  return 1;
}

// Lines that a reader needs at once, and those that begin a long silence.
static inline int ts_is_rare_(const struct ts_line* line) {
  static const char* const kBegins[] = {"mark ", "epoch", "begin checkpoint", "begin evaluation"};
  for (size_t i = 0; i < sizeof kBegins / sizeof kBegins[0]; ++i) {
    const size_t size = strlen(kBegins[i]);
    if (line->size >= size && memcmp(line->text, kBegins[i], size) == 0) return 1;
  }
  return 0;
}

static inline void ts_finish_(struct ts_line* line) {
  struct ts_state* state = &ts_state_2;
  const int error = errno;
  const int is_step = line->size >= 4 && memcmp(line->text, "step", 4) == 0;
  struct ts_tail tail;
  if (!ts_lock_(state->process)) {
    __atomic_fetch_add(&state->dropped, 1, __ATOMIC_RELAXED);
    errno = error;
    return;
  }
  ts_make_tail_(&tail, state, is_step, line->time_ns);
  line->size = ts_cut_(line, sizeof line->text - tail.size);
  ts_put_(line, tail.text, tail.size);
  if (state->size > 0 && state->size + line->size > TS_BATCH_BYTES) ts_flush_(state, &tail);
  memcpy(state->text + TS_FRONT_BYTES + state->size, line->text, line->size);
  state->size += line->size;
  ++state->waiting;
  if (ts_is_calm_(state, line->time_ns) || ts_is_rare_(line)) ts_flush_(state, &tail);
  ts_unlock_();
  errno = error;
}

static inline void ts_flush(void) {
  struct ts_state* state = &ts_state_2;
  const int error = errno;
  const int process = (int)getpid();
  const int is_open = __atomic_load_n(&state->process, __ATOMIC_ACQUIRE) == process &&
                      __atomic_load_n(&state->descriptor, __ATOMIC_RELAXED) >= 0;
  if (is_open && ts_lock_(process)) {
    if (state->waiting > 0 || __atomic_load_n(&state->dropped, __ATOMIC_RELAXED) > 0)
      ts_flush_now_(state);
    ts_unlock_();
  }
  errno = error;
}

// The end of a burst, when the job ends.
__attribute__((destructor)) static void ts_flush_at_exit_(void) { ts_flush(); }

static inline void ts_counted_(const char* word, long long number) {
  struct ts_line line;
  if (!ts_start_(&line, word)) return;
  ts_put_count_(&line, number);
  ts_finish_(&line);
}

static inline void ts_step(long long number) { ts_counted_("step", number); }
static inline void ts_epoch(long long number) { ts_counted_("epoch", number); }

static inline void ts_batch(long long items) {
  if (items > 0) ts_counted_("batch", items);
}

static inline void ts_step_loss(long long number, double loss) {
  struct ts_line line;
  if (!ts_start_(&line, "step")) return;
  ts_put_count_(&line, number);
  ts_put_number_(&line, "loss", 4, loss);
  ts_finish_(&line);
}

static inline void ts_edge_(const char* edge, const char* phase) {
  struct ts_line line;
  if (!ts_start_(&line, edge)) return;
  ts_put_name_(&line, phase, phase == NULL ? 0 : strlen(phase));
  ts_finish_(&line);
}

static inline void ts_begin(const char* phase) { ts_edge_("begin ", phase); }
static inline void ts_end(const char* phase) { ts_edge_("end ", phase); }

static inline void ts_phase(const char* phase, double seconds) {
  struct ts_line line;
  char text[64];
  if (!(seconds >= 0 && seconds < 1e12) || !ts_start_(&line, "phase ")) return;
  ts_put_name_(&line, phase, phase == NULL ? 0 : strlen(phase));
  ts_put_(&line, " ", 1);
  snprintf(text, sizeof text, "%.9f", seconds);
  ts_put_decimal_(&line, text);
  ts_finish_(&line);
}

static inline void ts_scalar(const char* name, double value) {
  struct ts_line line;
  if (!ts_start_(&line, "scalar ")) return;
  ts_put_name_(&line, name, name == NULL ? 0 : strlen(name));
  ts_put_(&line, " ", 1);
  ts_put_real_(&line, value);
  ts_finish_(&line);
}

// A line is one line: control characters become blanks.
static inline void ts_finish_text_(struct ts_line* line) {
  for (size_t i = 0; i < line->size; ++i)
    if ((unsigned char)line->text[i] < 32 || line->text[i] == 127) line->text[i] = ' ';
  ts_finish_(line);
}

static inline void ts_mark(const char* text) {
  struct ts_line line;
  if (text == NULL || strspn(text, " \t\r\n") == strlen(text) || !ts_start_(&line, "mark ")) return;
  ts_put_(&line, text, strlen(text));
  ts_finish_text_(&line);
}

static inline void ts_send(const char* format, ...) {
  struct ts_line line;
  va_list arguments;
  int size;
  if (!ts_start_(&line, "")) return;
  va_start(arguments, format);
  size = vsnprintf(line.text, sizeof line.text, format, arguments);
  va_end(arguments);
  if (size <= 0) return;
  line.size = (size_t)size < sizeof line.text ? (size_t)size : sizeof line.text;
  ts_finish_text_(&line);
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TRAINSCOPE_H_
