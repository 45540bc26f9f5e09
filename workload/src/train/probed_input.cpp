#include "train/probed_input.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <vector>

#include "monotonic_clock.h"
#include "trainscope.hpp"

namespace trainscope::workload {
namespace {

// As in python/instrument/modules/probe*.py.
constexpr std::uint64_t kFirstStep = 16, kTimesDiscarded = 5, kShortestBlock = 5, kMostSteps = 2000,
                        kMostTimesUsual = 4, kMostUnsettled = 500;
constexpr std::size_t kWaits = 64;
constexpr double kShortestBlockS = 0.2, kFeltWait = 0.02, kStall = 4, kWeight = 1.0 / 16;

std::map<std::string, std::string> read_lease() {
  std::map<std::string, std::string> fields;
  const char* pipe = std::getenv("TRAINSCOPE_PIPE");
  if (pipe == nullptr) return fields;
  const std::string path = pipe;
  std::ifstream file(path.substr(0, path.rfind('/') + 1) + "instrument/probe");
  for (std::string name, value; file >> name && std::getline(file >> std::ws, value);) {
    fields[name] = value;
  }
  return fields;
}

// Field 22 of /proc/PID/stat.
std::string start_ticks(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return "";
  std::istringstream rest(text.substr(name_end + 1));
  std::string word;
  for (int i = 0; i < 20; ++i) rest >> word;
  return word;
}

// In steps that take so long.
std::uint64_t shortest_block(double step_s) {
  const double steps = std::ceil(kShortestBlockS / std::max(step_s, 1e-9));
  return std::max(kShortestBlock, static_cast<std::uint64_t>(std::min<double>(steps, kMostSteps)));
}

// FNV-1a.
bool is_odd(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return ((hash >> 32U) & 1U) != 0;
}

}  // namespace

ProbedInput::ProbedInput() {
  auto lease = read_lease();
  if (lease.empty()) return;
  const std::string pid = lease["pid"];
  supervisor_ = static_cast<int>(::syscall(SYS_pidfd_open, std::atoi(pid.c_str()), 0));
  if (supervisor_ >= 0 && start_ticks(pid) != lease["start_ticks"]) {
    ::close(supervisor_);
    supervisor_ = -1;
  }
  key_ = lease["key"];
  until_s_ = std::atof(lease["until_ns"].c_str()) / 1e9;
}

ProbedInput::~ProbedInput() {
  if (supervisor_ >= 0) ::close(supervisor_);
}

bool ProbedInput::is_held(double now_s) const {
  pollfd ended{supervisor_, POLLIN, 0};
  return supervisor_ >= 0 && now_s <= until_s_ && ::poll(&ended, 1, 0) == 0;
}

void ProbedInput::note_wait(double wait_s) {
  if (supervisor_ < 0) return;
  if (place_ >= 0 && kept_from_s_ == 0 && owes_drain_) {
    long_waits_ += wait_s >= long_wait_s() ? 1 : 0;
    return;
  }
  if (step_ < kFirstStep / 2) return;
  waits_.push_back(wait_s);
  if (waits_.size() > kWaits) waits_.pop_front();
}

void ProbedInput::end_step(double now_s, double duration_s) {
  if (!is_held(now_s)) {
    is_changed_ = false;
    place_ = -1;
    return;
  }
  ++step_;
  if (step_s_ == 0) step_s_ = duration_s;
  const bool is_usual = !is_changed_ && (place_ < 0 || kept_from_s_ > 0);
  if (is_usual) step_s_ += kWeight * (std::min(duration_s, kStall * step_s_) - step_s_);
  if (place_ < 0) {
    if (step_ >= kFirstStep) begin_block();
    return;
  }
  if (kept_from_s_ > 0) {
    if (step_ >= last_) end_block();
    return;
  }
  ++discarded_;
  if (settles_) {
    begin_to_keep(now_s, duration_s);
  } else if (!is_changed_ && discarded_ > kMostUnsettled) {
    give_up_pair();
  } else {
    settles_ = has_settled(now_s);
  }
}

void ProbedInput::begin_to_keep(double now_s, double duration_s) {
  kept_from_s_ = now_s;
  if (!is_changed_ && owes_drain_) {
    owes_drain_ = false;
    // Without the two long waits and the step after them.
    drained_ = discarded_ - std::min<std::uint64_t>(discarded_, 3);
  }
  // Steps with replaced input may be shorter than usual ones, but a job that waits for nothing
  // would be over in one block.
  const std::uint64_t discarded = is_changed_ ? discarded_ : drained_;
  const std::uint64_t usual = shortest_block(step_s_);
  const std::uint64_t shortest =
      is_changed_ ? std::min(shortest_block(std::min(duration_s, step_s_)), kMostTimesUsual * usual)
                  : usual;
  last_ = step_ + std::max(kTimesDiscarded * discarded, shortest);
}

// Waits are not what they were.
void ProbedInput::give_up_pair() {
  owes_drain_ = false;
  waits_.clear();
  place_ = 1;
  begin_block();
}

bool ProbedInput::has_settled(double now_s) const {
  if (!are_waits_felt()) return true;
  if (is_changed_) {
    return now_s - begun_s_ >= static_cast<double>(drained_) * step_s_;
  }
  return !owes_drain_ || long_waits_ >= 2;
}

bool ProbedInput::are_waits_felt() const {
  const double sum = std::accumulate(waits_.begin(), waits_.end(), 0.0);
  return sum > kFeltWait * step_s_ * static_cast<double>(waits_.size());
}

double ProbedInput::long_wait_s() const {
  std::vector<double> sorted(waits_.begin(), waits_.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[sorted.size() * 9 / 10] / 2;
}

void ProbedInput::begin_block() {
  if (pair_ == 0) {
    mark("probe cannot host: the workload takes part with its input only");
    mark("probe cannot processors: the workload takes part with its input only");
  }
  if (place_ != 0) {  // another pair
    ++pair_;
    is_first_changed_ = is_odd(key_ + " " + std::to_string(step_ + 1));
  }
  place_ = place_ == 0 ? 1 : 0;
  is_changed_ = is_first_changed_ != (place_ == 1);
  first_ = step_;
  settles_ = false;
  kept_from_s_ = 0;
  long_waits_ = discarded_ = 0;
  begun_s_ = monotonic_s();
}

void ProbedInput::end_block() {
  char text[256];
  std::snprintf(text, sizeof text,
                "probe what=input changed=%d pair=%" PRIu64 " steps=%" PRIu64 "-%" PRIu64
                " discarded=%" PRIu64 " duration=%.9f slept=0 device=0",
                is_changed_ ? 1 : 0, pair_, first_ + discarded_ + 1, step_, discarded_,
                monotonic_s() - kept_from_s_);
  mark(text);
  if (is_changed_) owes_drain_ = true;
  begin_block();
}

}  // namespace trainscope::workload
