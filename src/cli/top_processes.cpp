#include "cli/top_processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/table.h"
#include "kernel/pid_namespace.h"
#include "kernel/worker_process.h"
#include "record/record.h"

namespace trainscope {

namespace {

constexpr size_t kMostRows = 50;
constexpr int64_t kReadPauseNs = 900 * kNsPerMs;
// What a process does is looked for when it is found, and then ever more rarely: it reads several
// files, and an undecided process may show it later.
constexpr int kLooksPerReading = 8;
constexpr int64_t kFirstLookPauseNs = kNsPerSecond, kMostLookPauseNs = 60 * kNsPerSecond;
// A copy of the job may be a worker that has not handed over a batch yet.
constexpr int kLooksBeforeMain = 2;
constexpr size_t kMostCommandBytes = 4096;

// Names of the processes that a supervisor starts besides its job.
constexpr std::array<std::string_view, 7> kOwnNames = {
    "trainscope",     "trainscope-rec", "trainscope-top", "trainscope-end",
    "trainscope-rly", "trainscope-syn", "trainscope-gpu"};

std::string name_of(const std::string& root, pid_t pid) {
  const auto text = read_file(fmt::format("{}/proc/{}/comm", root, pid));
  if (!text) return "";
  return text->ends_with('\n') ? text->substr(0, text->size() - 1) : *text;
}

std::vector<std::string> words_of(const std::string& root, pid_t pid) {
  auto text = read_file(fmt::format("{}/proc/{}/cmdline", root, pid));
  if (!text) return {};
  if (text->size() > kMostCommandBytes) text->resize(kMostCommandBytes);
  // A process that renamed itself pads its new name with zeros.
  while (text->ends_with('\0')) text->pop_back();
  std::vector<std::string> words;
  if (text->empty()) return words;
  for (const std::string_view word : split(*text, '\0')) words.emplace_back(word);
  return words;
}

// "python3 train.py"; of one that has another name than its program "pt_data_worker (python3
// train.py)". Secrets are left out, as in the run.
std::string command_of(const std::string& root, pid_t pid, const std::string& name) {
  std::vector<std::string> words = words_of(root, pid);
  if (words.empty()) return name;
  words.front().erase(0, words.front().rfind('/') + 1);  // npos + 1 is 0
  const std::string program = words.front();
  const std::string command = command_text(redact_command(words));
  // The kernel keeps 15 bytes of a name.
  return program.substr(0, 15) == name ? command : fmt::format("{} ({})", name, command);
}

std::string_view state_text(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
    case 'I':
      return "sleeping";
    case 'D':
      return "disk wait";
    case 'T':
      return "stopped";
    case 't':
      return "traced";
    default:
      return "?";
  }
}

int64_t cpu_ticks_of(const ProcessStat& stat) { return stat.user_ticks + stat.system_ticks; }

bool has_words(const ProcessRow& row, const std::string& filter) {
  const std::string text =
      lower(fmt::format("{} {} {} {}", row.pid, row.role, row.state, row.command));
  const auto words = fields(filter);
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(lower(word)) != std::string::npos;
  });
}

}  // namespace

Onlooker Onlooker::ours() {
  const auto boot_id = read_line("/proc/sys/kernel/random/boot_id");
  return {boot_id ? *boot_id : "", own_pid_namespace()};
}

JobPlace job_place(const RunView& run) {
  const Manifest& m = run.manifest();
  JobPlace place;
  place.is_running = run.status() == RunStatus::running;
  place.host_name = m.host_name;
  place.boot_id = m.boot_id;
  if (!m.attached) {
    place.supervisor_pid = m.supervisor_pid;
    place.supervisor_start_ticks = m.supervisor_start_ticks;
  }
  place.first = find_job_process(run.events());
  return place;
}

JobProcessReader::JobProcessReader(std::string root, Onlooker onlooker)
    : root_(std::move(root)), onlooker_(std::move(onlooker)) {}

std::string JobProcessReader::why_unseen(const JobPlace& place) const {
  if (!place.is_running) return "the job has ended";
  if (onlooker_.boot_id.empty() || onlooker_.boot_id != place.boot_id) {
    return fmt::format("the job runs on another machine ({}); its processes can be seen there",
                       printable(place.host_name));
  }
  if (!place.first) return "the run does not state which processes are the job's";
  if (onlooker_.pid_namespace == 0 || onlooker_.pid_namespace != place.first->pid_namespace) {
    return "the job runs in another container, whose processes cannot be seen from here";
  }
  return ancestor_of(place) == 0 ? "the job's processes have ended or cannot be seen" : "";
}

bool JobProcessReader::is_alive(int64_t pid, int64_t start_ticks) const {
  ProcessStat stat;
  return pid > 0 && read_stat(root_, static_cast<pid_t>(pid), stat) &&
         stat.start_ticks == start_ticks && stat.state != 'Z' && stat.state != 'X';
}

// The process below which all of the job's are.
pid_t JobProcessReader::ancestor_of(const JobPlace& place) const {
  if (is_alive(place.supervisor_pid, place.supervisor_start_ticks)) {
    return static_cast<pid_t>(place.supervisor_pid);
  }
  if (!is_alive(place.first->pid, place.first->start_ticks)) return 0;
  return static_cast<pid_t>(place.first->pid);
}

// Of a process below the ancestor. The supervisor has children besides the job: its own, and those
// from before the run. Orphans of the job, which become its children too, are younger than the job.
bool JobProcessReader::is_of_job(pid_t pid, const ProcessStat& stat, const JobPlace& place) const {
  if (ancestor_ != place.supervisor_pid) return true;
  if (pid == ancestor_) return false;
  if (stat.parent != ancestor_ || pid == place.first->pid) return true;
  const std::string name = name_of(root_, pid);
  return stat.start_ticks >= place.first->start_ticks &&
         std::find(kOwnNames.begin(), kOwnNames.end(), name) == kOwnNames.end();
}

void JobProcessReader::refresh(const JobPlace& place, int64_t now_ns) {
  const pid_t ancestor = ancestor_of(place);
  if (ancestor != ancestor_) {
    ancestor_ = ancestor;
    job_.first_pid = ancestor;
    members_ = JobMembers();
    members_.open(root_, &job_);
  }
  members_.refresh();
  const double elapsed_s = read_ns_ == 0 ? 0 : to_seconds(now_ns - read_ns_);
  read_ns_ = now_ns;
  std::set<pid_t> others;  // and what is below them
  std::map<pid_t, Known> now;
  bool again = true;
  while (again) {  // a child may have a smaller pid than its parent
    again = false;
    for (const auto& [pid, stat] : members_.all()) {
      if (others.contains(pid)) continue;
      const bool is_below = stat.parent != ancestor_ && others.contains(stat.parent);
      if (!is_below && is_of_job(pid, stat, place)) continue;
      again = others.insert(pid).second || again;
    }
  }
  for (const auto& [pid, stat] : members_.all()) {
    if (others.contains(pid)) continue;
    const auto before = known_.find(pid);
    const bool is_same = before != known_.end() && before->second.start_ticks == stat.start_ticks;
    Known& known = now[pid];
    if (is_same) known = std::move(before->second);
    update(known, pid, stat, is_same ? elapsed_s : 0);
  }
  known_ = std::move(now);
  look_at_some(now_ns);
  elect_main();
}

void JobProcessReader::update(Known& known, pid_t pid, const ProcessStat& stat, double elapsed_s) {
  static const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const int64_t ticks = cpu_ticks_of(stat);
  known.cpu.reset();
  if (elapsed_s > 0) {
    const auto more = static_cast<double>(std::max<int64_t>(0, ticks - known.cpu_ticks));
    known.cpu = more / ticks_per_second / elapsed_s;
  }
  known.start_ticks = stat.start_ticks;
  known.cpu_ticks = ticks;
  known.stat = stat;
  std::string name = name_of(root_, pid);
  if (name == known.name && !known.command.empty()) return;
  // It is new, has begun another program, or has taken a name.
  known.command = command_of(root_, pid, name);
  known.name = std::move(name);
  known.look_due_ns = known.look_pause_ns = 0;
  known.undecided_looks = 0;
}

void JobProcessReader::look_at_some(int64_t now_ns) {
  int left = kLooksPerReading;
  for (auto& [pid, known] : known_) {
    if (now_ns < known.look_due_ns || left-- == 0) continue;
    const pid_t parent = known_.contains(known.stat.parent) ? known.stat.parent : 0;
    const ProcessKind kind = kind_of_process(root_, pid, known.name, parent);
    known.is_worker =
        kind.worker == WorkerSign::name || kind.worker == WorkerSign::hands_over_memory;
    known.is_compiler = kind.is_compiler;
    const bool is_undecided = kind.worker == WorkerSign::undecided;
    known.undecided_looks =
        is_undecided ? std::min(known.undecided_looks, kLooksBeforeMain) + 1 : 0;
    known.look_pause_ns = std::clamp(2 * known.look_pause_ns, kFirstLookPauseNs, kMostLookPauseNs);
    known.look_due_ns = now_ns + known.look_pause_ns;
  }
}

// As the recorder does: the process with the most CPU time that has no other role.
void JobProcessReader::elect_main() {
  Known* main = nullptr;
  for (auto& [pid, known] : known_) {
    known.is_main = false;
    const bool is_open = known.undecided_looks > 0 && known.undecided_looks <= kLooksBeforeMain;
    if (known.is_worker || known.is_compiler || is_open) continue;
    if (main == nullptr || known.cpu_ticks > main->cpu_ticks) main = &known;
  }
  if (main != nullptr) main->is_main = true;
}

TopProcesses JobProcessReader::rows(const std::string& filter) const {
  static const auto page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::vector<const std::pair<const pid_t, Known>*> all;
  for (const auto& each : known_) all.push_back(&each);
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.cpu.value_or(0), a->second.cpu_ticks) >
           std::pair(b->second.cpu.value_or(0), b->second.cpu_ticks);
  });
  TopProcesses out;
  out.are_living = true;
  for (const auto* each : all) {
    const auto& [pid, known] = *each;
    ProcessRow row;
    row.pid = pid;
    row.role = known.is_worker     ? "worker"
               : known.is_compiler ? "compiler"
               : known.is_main     ? "main"
                                   : "";
    row.cpu = known.cpu ? percent_text(*known.cpu) : "";
    row.memory = bytes_text(static_cast<double>(known.stat.resident_pages) * page_bytes);
    row.threads = std::to_string(known.stat.threads);
    row.state = state_text(known.stat.state);
    row.command = known.command;
    if (!has_words(row, filter)) continue;
    if (out.rows.size() < kMostRows) {
      out.rows.push_back(std::move(row));
    } else {
      ++out.left_out;
    }
  }
  if (out.rows.empty() && !filter.empty()) {
    out.no_rows = fmt::format("no process matches '{}'; escape removes the filter", filter);
  } else if (out.rows.empty()) {
    out.no_rows = "the job has no living process";
  }
  return out;
}

TopProcesses JobProcessReader::read(const JobPlace& place, const std::string& filter,
                                    int64_t now_ns) {
  const std::string reason = why_unseen(place);
  if (!reason.empty()) {
    known_.clear();
    ancestor_ = 0;
    read_ns_ = 0;
    TopProcesses none;
    none.no_rows = reason;
    return none;
  }
  // Other words need no new reading.
  if (read_ns_ == 0 || now_ns - read_ns_ >= kReadPauseNs) refresh(place, now_ns);
  return rows(filter);
}

}  // namespace trainscope
