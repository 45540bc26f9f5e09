// The screen of `trainscope top`: a run in a terminal, as plots on one time axis.
//
// Guarantees: what is drawn is a pure function of a snapshot, a state and a size (tui/draw.h); a
// source that hangs never delays a key; control characters of a run never reach the terminal; the
// terminal is as before when show_top() returns, also after a signal. Limits: one screen per
// process; plots show the mean of each part of the time axis.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/window_fold.h"

namespace trainscope {

// How sure a plot of these characters is to be shown as such.
enum class Charset { ascii, utf8 };
// By the variables LC_ALL, LC_CTYPE and LANG.
Charset charset_from_environment();

// One character per value, from the lowest to the highest of them; a value that is absent is a
// space.
std::string sparkline(const std::vector<std::optional<double>>& values, double low, double high,
                      Charset charset);

// What the rows are about; the tab key goes through them.
enum class Component { overview, training, processor, memory, disk, network, gpu, job };
inline constexpr int kComponents = 8;
std::string_view component_name(Component component);

// What is shown instead of the plots of a component.
enum class Panel { none, processes, threads };

// The part of a run that is wanted.
struct ViewRequest {
  double begin_s = 0;   // of the first window; not used if it follows the end
  bool follows = true;  // the last window is the last of the run
  double window_s = 1;
  size_t windows = 0;
  Component component = Component::overview;
  std::string filter;  // words that the text of a series must contain; "": none
  Panel panel = Panel::none;
  bool operator==(const ViewRequest&) const = default;
};

// The windows that a request means, of a run that is so long so far: at multiples of their length,
// so that a plot that follows the run moves without changing.
TimeWindows windows_of(const ViewRequest& request, double duration_s);

// One line of plots.
struct PlotRow {
  std::string label;                          // "GPU 0"
  std::vector<std::optional<double>> values;  // one per window
  double low = 0, high = 1;                   // of the plot
  std::string value, max;  // the last value and the largest of the windows, with their units
};

// Where the time of a thread went in the windows, "" where it is not known.
struct ThreadRow {
  PlotRow running;  // of the time; its label is the role
  std::string runnable, blocked, disk;
};

// A living process of the job.
struct ProcessRow {
  int64_t pid = 0;
  std::string role;     // "main", "worker"; often ""
  std::string cpu;      // of one CPU since the last reading; "": it was not read twice yet
  std::string memory;   // resident
  std::string threads;  // how many
  std::string state;    // "running", "disk wait"
  std::string command;
};

struct TopProcesses {
  bool are_living = false;       // false: none can be shown, now or ever
  std::vector<ProcessRow> rows;  // the busiest first
  size_t left_out = 0;
  std::string no_rows;    // why there is no row
  bool is_final = false;  // they were not asked for
};

struct ProcessRequest {
  bool is_wanted = false;
  std::string filter;
  bool operator==(const ProcessRequest&) const = default;
};

enum class RunMark { running, succeeded, failed, stopped, unknown };

struct TopSnapshot {
  std::string id, name, command;
  RunMark mark = RunMark::unknown;
  std::string status;     // "running for 12 min 4 s", "exit code 1 after 3.0 s"
  std::string steps;      // "812, 4.1/s, p50 243 ms; loss 0.41"; or why there are none
  std::string job;        // processes, threads, memory
  std::string recording;  // samples, missed, gaps
  bool is_recording_faulty = false;
  bool is_running = false;
  bool is_final = false;  // it will not change
  double duration_s = 0;
  TimeWindows windows;                          // of the plots
  std::vector<std::pair<double, double>> gaps;  // that overlap the windows
  std::vector<PlotRow> rows;
  size_t left_out = 0;        // series that match but are not among the rows
  std::string no_rows;        // why there is no row
  Panel panel = Panel::none;  // if there is one, there are threads instead of rows
  std::vector<ThreadRow> threads;
  std::string no_threads;           // why there is none
  std::vector<std::string> output;  // the last lines that the job printed
  std::string problem;              // why this could not be read; then the rest may be older
};

enum class Severity { none, info, warning, critical };

// The diagnosis so far.
struct TopVerdict {
  Severity severity = Severity::none;
  std::string text;    // the verdict in a line
  std::string advice;  // what to change or type next; may be empty
  bool is_final = false;
};

// Where the screen gets its contents from. Each is called on its own thread and may take long.
struct TopSource {
  std::function<TopSnapshot(const ViewRequest& request)> read;
  std::function<TopVerdict()> diagnose;
  // The job's processes now; reads nothing if they are not wanted.
  std::function<TopProcesses(const ProcessRequest& request)> processes;
};

enum class Theme { automatic, ansi, mono };

struct TopOptions {
  Theme theme = Theme::automatic;
  // Of a job that this screen belongs to: q leaves the job alone, and the terminal's keys for
  // signals are the job's.
  bool is_of_job = false;
};

// An Error unless the terminal of this process can show a screen: why not, and what to use instead.
Status check_screen();

// Shows the screen until the user ends it; the number of the signal that ended it, or 0.
Result<int> show_top(const TopSource& source, const TopOptions& options);

}  // namespace trainscope
