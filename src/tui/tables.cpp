#include "tui/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace trainscope {

namespace {

// Where the columns of processes are. Numbers end at their place, texts begin there; 0: there is no
// space for it.
struct ProcessColumns {
  int pid = 7, role = 8, cpu = 23, memory = 33, threads = 41, state = 43, command = 53;

  explicit ProcessColumns(int columns) {
    if (columns >= 70) return;
    role = threads = state = 0;
    cpu = 13;
    memory = 23;
    command = 24;
  }
};

void draw_process(Grid& grid, int row, const ProcessColumns& at, const ProcessRow& process) {
  const bool is_waiting = process.state == "disk wait";
  grid.put_right(row, at.pid, std::to_string(process.pid));
  if (at.role > 0) grid.put(row, at.role, process.role, Look::plain, at.cpu - 7 - at.role);
  grid.put_right(row, at.cpu, process.cpu, Look::strong);
  grid.put_right(row, at.memory, process.memory);
  if (at.threads > 0) grid.put_right(row, at.threads, process.threads);
  const Look look = is_waiting ? Look::warning : Look::plain;
  if (at.state > 0) grid.put(row, at.state, process.state, look, at.command - at.state - 1);
  grid.put(row, at.command, process.command);
}

void draw_process_headings(Grid& grid, int row, const ProcessColumns& at) {
  grid.put_right(row, at.pid, "pid", Look::dim);
  if (at.role > 0) grid.put(row, at.role, "role", Look::dim);
  grid.put_right(row, at.cpu, "CPU", Look::dim);
  grid.put_right(row, at.memory, "memory", Look::dim);
  if (at.threads > 0) grid.put_right(row, at.threads, "threads", Look::dim);
  if (at.state > 0) grid.put(row, at.state, "state", Look::dim);
  grid.put(row, at.command, "process", Look::dim);
}

struct ThreadColumns {
  int running = 17, runnable = 27, blocked = 36, disk = 43;

  explicit ThreadColumns(int columns) {
    if (columns >= 70) return;
    running = 16;
    runnable = 25;
    blocked = 33;
    disk = 0;
  }
};

}  // namespace

size_t draw_processes(Grid& grid, TableSpace space, const TopProcesses& processes, int first) {
  const ProcessColumns at(grid.size().columns);
  draw_process_headings(grid, space.row, at);
  if (processes.rows.empty()) grid.put(space.row + 1, 2, processes.no_rows);
  const auto count = static_cast<int>(processes.rows.size());
  const int shown = std::clamp(space.rows - 1, 0, count);
  first = std::clamp(first, 0, count - shown);
  for (int i = 0; i < shown; ++i) {
    draw_process(grid, space.row + 1 + i, at,
                 processes.rows[static_cast<size_t>(first) + static_cast<size_t>(i)]);
  }
  return static_cast<size_t>(count - first - shown) + processes.left_out;
}

int thread_columns(int columns) {
  const ThreadColumns at(columns);
  return std::max(at.blocked, at.disk) + 2;
}

void draw_thread_headings(Grid& grid, int row) {
  const ThreadColumns at(grid.size().columns);
  grid.put(row, 0, "thread", Look::dim);
  grid.put_right(row, at.running, "running", Look::dim);
  grid.put_right(row, at.runnable, "runnable", Look::dim);
  grid.put_right(row, at.blocked, "blocked", Look::dim);
  if (at.disk == 0) return;
  grid.put_right(row, at.disk, "disk", Look::dim);
  grid.put(row, thread_columns(grid.size().columns), "running over time", Look::dim);
}

void draw_thread(Grid& grid, int row, const ThreadRow& thread) {
  const ThreadColumns at(grid.size().columns);
  grid.put(row, 0, thread.running.label, Look::plain, at.running - 8);
  grid.put_right(row, at.running, thread.running.value, Look::strong);
  grid.put_right(row, at.runnable, thread.runnable);
  grid.put_right(row, at.blocked, thread.blocked);
  if (at.disk > 0) grid.put_right(row, at.disk, thread.disk);
}

}  // namespace trainscope
