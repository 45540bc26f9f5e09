#include <algorithm>
#include <cmath>

#include "analyze/support/rule.h"

namespace trainscope {

double Witness::degree(Signal signal, double low, double high) {
  const double found =
      degree(std::string(signal_spec(signal).name), evidence_.mean(signal), low, high);
  last_seen().metric = evidence_.is_own(signal) ? signal_sources()[static_cast<size_t>(signal)].own
                                                : signal_metric(signal);
  last_seen().unit = signal_unit(signal);
  return found;
}

double Witness::input_wait() {
  const auto share = evidence_.lost_input();
  if (!share) return 0;
  return share_degree("input wait of step time", share, 0.05, 0.22);
}

double Witness::device_idle() {
  return value(Signal::gpu_sm) ? degree(Signal::gpu_sm, 0.5, 0.25)
                               : degree(Signal::gpu_busy, 0.9, 0.6);
}

double Witness::communication() {
  const auto share = evidence_.share("communication");
  return share ? share_degree("communication of step time", share, 0.08, 0.25) : 0;
}

double Witness::checkpoints() {
  if (const auto share = evidence_.share("checkpoint")) {
    return share_degree("checkpoints of step time", share, 0.05, 0.2);
  }
  return share_degree("time lost in long steps while the job writes", evidence_.saving_share(),
                      0.05, 0.2) *
         share_degree("writes that fall into long steps only",
                      evidence_.reported().writes_in_long_steps(), 0.5, 0.85) *
         degree(Signal::disk_write_bytes, 1e6, 5e6);
}

double Witness::weight(double share) {
  double largest = evidence_.lost_input().value_or(0);
  for (const char* const part : {"checkpoint", "communication"}) {
    largest = std::max(largest, evidence_.share(part).value_or(0));
  }
  if (!(share < largest)) return 1;
  return aside([&] {
    return 0.5 +
           0.5 * share_degree("of the largest part that the job reports", share / largest, 0, 1);
  });
}

double Witness::waits_for_workers() {
  if (evidence_.knows_input() || evidence_.workers() == 0) return 0;
  return degree(Signal::main_blocked, 0.1, 0.3) * degree(Signal::worker_most, 0.5, 0.8);
}

double Witness::waits_for_storage(double low, double high) {
  const double seen = degree(Signal::main_on_disk, low, high);
  if (!value(Signal::main_delayed)) return seen;
  return std::max(seen, degree(Signal::main_delayed, low, high));
}

double Witness::pools_compute() {
  const auto cores = value(Signal::job_cores), other = value(Signal::other_running);
  if (!cores) return 0;
  const double computed = std::max(0.0, *cores - value(Signal::kernel_cores).value_or(0) -
                                            value(Signal::main_running).value_or(0));
  return aside([&] {
    const double thread = share_degree("busiest other thread computing, without the kernel",
                                       std::min(other.value_or(0), computed), 0.5, 0.85);
    if (evidence_.workers() > 0) return thread;  // the CPU time of the job is theirs too
    return std::max(thread, share_degree("other threads computing, per core that the job may use",
                                         computed / evidence_.cpus(), 0.6, 0.85));
  });
}

double Witness::waits_under_limit() {
  if (value(Signal::cpu_held_up)) return degree(Signal::cpu_held_up, 0.01, 0.05);
  return evidence_.is_own(Signal::cpu_pressure) && value(Signal::cpu_pressure)
             ? degree(Signal::cpu_pressure, 0.01, 0.05)
             : 1;
}

double Witness::left_by_limit() {
  return aside([&] {
    const double throttled = degree(Signal::throttled, 0.05, 0.2);
    return throttled > 0 ? 1 - throttled * waits_under_limit() : 1;
  });
}

double Witness::strangers(double low, double high) {
  const auto others = evidence_.others_cores();
  if (!others) return 0;
  return share_degree("CPU of others per core that the job may use",
                      *others / evidence_.seen_cpus(), low, high);
}

double Witness::compute_units_idle() {
  const auto tensor = value(Signal::gpu_tensor), fp32 = value(Signal::gpu_fp32);
  if (!tensor && !fp32) return 0.6;
  const double busiest = std::max(tensor.value_or(0), fp32.value_or(0));
  return share_degree("tensor cores or fp32 units active", busiest, 0.3, 0.1);
}

std::string Witness::advice(Advice advice) const {
  return std::string(advice_text(advice, evidence_.framework()));
}

std::optional<double> Witness::device_bound(double share) const {
  const auto busy = evidence_.device_share();
  if (evidence_.uses_gpu() && !busy) return std::nullopt;
  return std::clamp(share, 0.0, 1 - std::min(1.0, busy.value_or(0)));
}

std::string Witness::cause_in_workers() {
  const auto most = value(Signal::worker_most), least = value(Signal::worker_least);
  if (evidence_.workers() > 1 && most && least && *least < 0.5 * *most) return "slow_worker";
  if (small_reads() > 0.5) return "small_files";
  // Cores that others use are not free for more workers, and do not show that these are enough.
  if (!evidence_.unused_share()) return "";
  if (share_degree("share of the CPUs that is idle", evidence_.idle_share(), 0.05, 0.15) > 0.6) {
    return "few_workers";
  }
  const double full = share_degree("share of the CPUs that the job does not use",
                                   evidence_.unused_share(), 0.15, 0.05);
  return full > 0.6 ? "decoding" : "";
}

bool Witness::has_warmed_up() {
  constexpr size_t kLeastWindows = 4;
  constexpr double kReadsBytes = 1e6, kFromStorage = 0.5, kFromMemory = 0.1;
  const auto& disk = evidence_.by_window(Signal::disk_read_bytes);
  const auto& read = evidence_.by_window(Signal::read_bytes);
  if (disk.size() < kLeastWindows) return false;
  const auto share_of = [&](size_t from, size_t to) -> std::optional<double> {
    double from_disk = 0, all = 0;
    for (size_t w = from; w < to; ++w) {
      from_disk += disk[w].value_or(0);
      all += read[w].value_or(0);
    }
    if (!(all > kReadsBytes * static_cast<double>(to - from))) return std::nullopt;
    return from_disk / all;
  };
  const size_t quarter = disk.size() / 4;
  const auto first = share_of(0, quarter), last = share_of(disk.size() - quarter, disk.size());
  const size_t before = looks();
  const double begins = share_degree("reads from storage, of all in the first quarter of the time",
                                     first, kFromMemory, kFromStorage);
  const double ends = share_degree("reads from storage, of all in the last quarter of the time",
                                   last, kFromStorage, kFromMemory);
  const bool has = begins == 1 && ends == 1;
  if (!has) set_aside(before);
  return has;
}

double Witness::gain_of_loading_ahead(double share) const {
  const TimeWindows& windows = evidence_.windows();
  const double unhidden_s = evidence_.reported().unhidden_input_s(windows.begin_s, windows.end_s());
  const double hidden = share - unhidden_s / evidence_.training_s();
  return 1 / (1 - std::clamp(hidden, 0.0, 1 - share));
}

// Each worker takes as long per batch as now, also where a GPU computed meanwhile: without workers
// that is all of the reported input. With steps that are shorter, the rest of the job needs its CPU
// time in less time. Workers and the rest have no more CPUs than the job may use.
std::optional<int64_t> Witness::workers_to_keep_up(double waits) {
  const auto busy = value(Signal::worker_most);
  const auto have = static_cast<double>(evidence_.workers());
  const bool is_known = evidence_.workers() < Evidence::kMostWorkers;
  const double loading =
      have > 0 ? have * busy.value_or(0) : evidence_.share("input").value_or(waits);
  if (!is_known || !(waits < 1)) return std::nullopt;
  const double needed = std::ceil(loading / (1 - waits));
  const double others = std::max(0.0, value(Signal::job_cores).value_or(0) - loading) / (1 - waits);
  if (!(needed > have) || needed + others > evidence_.cpus()) return std::nullopt;
  return static_cast<int64_t>(needed);
}

double Witness::small_reads() {
  const auto calls = value(Signal::read_calls), bytes = value(Signal::read_bytes);
  const auto kernel = value(Signal::kernel_cores), cores = value(Signal::job_cores);
  if (!calls || !bytes || !kernel || !cores || !(*calls > 0) || !(*cores > 0)) return 0;
  const size_t before = looks();
  double found = degree(Signal::read_calls, 3000, 15000);
  found *= degree("bytes per read call", *bytes / *calls, 64e3, 16e3);
  last_seen().unit = "By";
  found *= share_degree("share of the job's CPU time in the kernel", *kernel / *cores, 0.2, 0.4);
  // One of the three alone says nothing: each job reads a few bytes at a time.
  if (found < 0.5) set_aside(before);
  return found;
}

}  // namespace trainscope
