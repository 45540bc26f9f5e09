#include "gpu/support/server.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <set>

#include "base/clock.h"
#include "base/json.h"

namespace trainscope {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFindLimit(3000);
constexpr int64_t kRowLimitNs = 100'000'000, kLastRowLimitNs = 200'000'000;
constexpr int64_t kHangs = 5 * kNsPerSecond;
// A little less than a second, so that ticks of a second find it due.
constexpr int64_t kSlowPeriod = 950'000'000, kRarePeriod = 9'950'000'000;
constexpr int64_t kFirstRetry = 1 * kNsPerSecond, kLastRetry = 60 * kNsPerSecond;
constexpr int kDriverGone = 3;  // the recorder restarts us

std::string title(const Gpu& gpu) {
  return gpu.name.empty() ? "GPU " + gpu.label : fmt::format("GPU {} ({})", gpu.label, gpu.name);
}

}  // namespace

GpuWorker::GpuWorker(std::shared_ptr<Gpu> gpu, GpuPace pace, std::shared_ptr<GpuSignal> signal)
    : gpu_(gpu), pace_(pace) {
  state_->values.assign(gpu->columns.size(), kAbsent);
  // Detached: a call that never returns cannot be joined.
  std::thread(work, std::move(gpu), pace, state_, std::move(signal)).detach();
}

void GpuWorker::work(const std::shared_ptr<Gpu>& gpu, GpuPace pace,
                     const std::shared_ptr<State>& state,
                     const std::shared_ptr<GpuSignal>& signal) {
  prctl(PR_SET_NAME, pace == GpuPace::fast ? "gpu-fast" : "gpu-slow");
  std::vector<int64_t> values(gpu->columns.size(), kAbsent);
  std::unique_lock lock(signal->mutex);
  for (;;) {
    state->asked.wait(lock, [&] { return state->busy; });
    const std::vector<pid_t> job = state->job;
    const bool with_rare = state->with_rare;
    lock.unlock();
    std::fill(values.begin(), values.end(), kAbsent);
    GpuHealth health = gpu->read(pace, values, job);
    if (with_rare && health == GpuHealth::ok) health = gpu->read(GpuPace::rare, values, job);
    lock.lock();
    state->health = health;
    state->values = values;
    state->fresh = health == GpuHealth::ok;
    state->busy = false;
    state->has_answered = true;
    signal->answered.notify_all();
    if (health != GpuHealth::ok) return;
  }
}

void GpuWorker::ask(const std::vector<pid_t>& job, bool with_rare) {
  state_->busy = true;
  state_->with_rare = with_rare;
  state_->asked_ns = monotonic_ns();
  state_->job = job;
  state_->asked.notify_one();
}

void GpuWorker::take(std::span<int64_t> row) {
  if (!std::exchange(state_->fresh, false)) return;
  for (size_t i = 0; i < gpu_->columns.size(); ++i) {
    const bool is_fast = gpu_->columns[i].pace == GpuPace::fast;
    if (is_fast == (pace_ == GpuPace::fast)) row[i] = state_->values[i];
  }
}

// A single GPU may be another one for each rank.
FoundGpus GpuServer::find_of(const GpuVendor& vendor) const {
  FoundGpus found = vendor.find(root_);
  const bool are_own = found.is_part || found.gpus.size() == 1;
  for (const auto& gpu : found.gpus) gpu->only_job = only_job_ && !are_own;
  return found;
}

// On its own thread: starting a driver's library may take seconds, or for ever.
void GpuServer::find() {
  if (finding_) return;
  finding_ = true;
  found_ = false;
  std::thread([this] {
    std::vector<FoundGpus> found;
    for (const GpuVendor* vendor : gpu_vendors()) found.push_back(find_of(*vendor));
    const std::lock_guard lock(signal_->mutex);
    findings_ = std::move(found);
    finding_ = false;
    found_ = true;
    stale_ = true;  // a request that timed out is made again
    signal_->answered.notify_all();
  }).detach();
}

// GPUs that are still present keep their threads and state.
void GpuServer::merge(std::vector<FoundGpus> found) {
  std::vector<std::unique_ptr<Member>> members;
  reason_.clear();
  remedy_.clear();
  for (FoundGpus& of_vendor : found) {
    for (auto& gpu : of_vendor.gpus) {
      const auto known = std::find_if(members_.begin(), members_.end(), [&](const auto& member) {
        return member != nullptr && member->gpu->uuid == gpu->uuid &&
               member->state != MemberState::lost;
      });
      if (known != members_.end()) {
        members.push_back(std::move(*known));
        continue;
      }
      const bool was_lost = forget_lost(gpu->uuid);
      const std::shared_ptr<Gpu> fresh = std::move(gpu);
      if (was_lost) send_event("gpu", title(*fresh) + " is back");
      members.push_back(std::make_unique<Member>(
          Member{fresh, GpuWorker(fresh, GpuPace::fast, signal_),
                 GpuWorker(fresh, GpuPace::slow, signal_), MemberState::good, 0}));
    }
    const auto add = [](std::string& to, const std::string& text) {
      if (!text.empty()) to += (to.empty() ? "" : "; ") + text;
    };
    add(reason_, of_vendor.reason);
    add(remedy_, of_vendor.remedy);
  }
  for (auto& member : members_) {
    if (member == nullptr) continue;
    // A lost GPU stays in the list: it is searched for again.
    if (member->state == MemberState::lost) {
      members.push_back(std::move(member));
    } else {
      send_event("gpu", title(*member->gpu) + " disappeared");
    }
  }
  members_ = std::move(members);
}

bool GpuServer::forget_lost(const std::string& uuid) {
  return std::erase_if(members_, [&](const auto& member) {
           return member != nullptr && member->gpu->uuid == uuid;
         }) > 0;
}

std::string GpuServer::layout_json() {
  const auto prefix = [](const std::string& label) {
    return label.substr(0, label.find_first_of("0123456789"));
  };
  std::set<std::string> prefixes;
  for (const auto& member : members_) prefixes.insert(prefix(member->gpu->label));
  // "amd0" if there are GPUs of other vendors than AMD, otherwise "0".
  const auto shown = [&](const std::string& label) {
    return prefixes.size() > 1 ? label : label.substr(prefix(label).size());
  };
  Json gpus = Json::array(), columns = gpus, missing = gpus;
  for (const auto& member : members_) {
    const Gpu& gpu = *member->gpu;
    Json entry = {{"label", shown(gpu.label)}, {"uuid", gpu.uuid}, {"name", gpu.name}};
    if (gpu.memory_bytes >= 0) entry["memory_bytes"] = gpu.memory_bytes;
    gpus.push_back(entry);
    for (const GpuColumn& column : gpu.columns) {
      if (!gpu.is_read(column)) continue;
      if (member->state != MemberState::good) {
        missing.push_back(
            {{"metric", column.metric},
             {"reason", title(gpu) + (member->state == MemberState::lost
                                          ? " was lost"
                                          : ": a call to its driver does not return")},
             {"remedy", "see dmesg for Xid errors; a reset or reboot may be needed"}});
        continue;
      }
      Json labels = Json::object();
      for (const auto& [name, value] : column.labels) {
        labels[name] = name == "gpu" ? shown(value) : value;
      }
      columns.push_back({{"metric", column.metric},
                         {"labels", labels},
                         {"scale", {column.scale.numerator, column.scale.denominator}}});
    }
    for (const GpuMissing& m : gpu.missing) {
      missing.push_back({{"metric", m.metric}, {"reason", m.reason}, {"remedy", m.remedy}});
    }
  }
  const Json whole = {{"gpus", gpus},      {"columns", columns}, {"missing", missing},
                      {"reason", reason_}, {"remedy", remedy_},  {"searching", finding_}};
  return dump_json(whole);
}

void GpuServer::answer_layout(uint64_t number) {
  std::unique_lock lock(signal_->mutex);
  // A search that took too long may have finished in the meantime.
  if (!found_ && (look_again_.exchange(false) || members_.empty())) {
    find();
    signal_->answered.wait_for(lock, kFindLimit, [this] { return !finding_; });
  }
  stale_ = false;
  if (found_) {
    found_ = false;
    merge(std::move(findings_));
  } else if (members_.empty()) {
    reason_ = "no reply from the GPU driver within 3 s";
    remedy_ = "check whether nvidia-smi works; if not, the driver hangs";
  }
  ++layout_;
  const std::string json = layout_json();
  send(GpuMessage::layout, number, static_cast<uint32_t>(json.size()), json.data(), json.size());
}

// Which members hang, were lost, or are back.
void GpuServer::update_states(int64_t now_ns) {
  for (const auto& member : members_) {
    const auto hangs = [&](const GpuWorker& w) {
      return w.busy() && now_ns - w.busy_since_ns() > kHangs;
    };
    for (const GpuWorker* worker : {&member->fast, &member->slow}) {
      if (worker->health() == GpuHealth::driver_gone) exit_code_ = kDriverGone;
      if (worker->health() != GpuHealth::lost || member->state == MemberState::lost) continue;
      member->state = MemberState::lost;
      stale_ = true;
      retry_after_ns_ = kFirstRetry;
      retry_ns_ = now_ns + retry_after_ns_;
      send_event("gpu", title(*member->gpu) + " was lost: its driver no longer reaches it");
    }
    if (member->state == MemberState::lost) continue;
    const bool hanging = hangs(member->fast) || hangs(member->slow);
    if (hanging == (member->state == MemberState::hangs)) continue;
    member->state = hanging ? MemberState::hangs : MemberState::good;
    stale_ = true;
    send_event("gpu",
               title(*member->gpu) + (hanging ? ": a call to its driver has not returned for 5 s"
                                              : " responds again"));
  }
  const bool some_lost = std::any_of(members_.begin(), members_.end(), [](const auto& member) {
    return member->state == MemberState::lost;
  });
  if (!some_lost || now_ns < retry_ns_) return;
  retry_after_ns_ = std::min(2 * retry_after_ns_, kLastRetry);
  retry_ns_ = now_ns + retry_after_ns_;
  look_again_ = true;
  stale_ = true;
}

void GpuServer::ask_members(const std::vector<pid_t>& job, int64_t now_ns, RowKind kind) {
  const bool is_last = kind == RowKind::last;
  for (const auto& member : members_) {
    if (member->state != MemberState::good) continue;
    if (!member->fast.busy()) member->fast.ask(job, false);
    if (member->slow.busy() || (now_ns < member->slow_due_ns && !is_last)) continue;
    const bool with_rare = now_ns >= member->rare_due_ns || is_last;
    member->slow_due_ns = now_ns + kSlowPeriod;
    if (with_rare) member->rare_due_ns = now_ns + kRarePeriod;
    member->slow.ask(job, with_rare);
  }
}

void GpuServer::wait_for_members(std::unique_lock<std::mutex>& lock, RowKind kind) {
  const bool is_last = kind == RowKind::last;
  const int64_t limit_ns = is_last ? kLastRowLimitNs : kRowLimitNs;
  // A worker that did not reply the last time is not waited for again; slow ones only once and at
  // the end.
  const auto is_awaited = [limit_ns](const GpuWorker& worker) {
    return worker.busy() && monotonic_ns() - worker.busy_since_ns() < limit_ns;
  };
  signal_->answered.wait_for(lock, std::chrono::nanoseconds(limit_ns), [&] {
    return std::none_of(members_.begin(), members_.end(), [&](const auto& member) {
      const bool is_slow_wanted = is_last || !member->slow.has_answered();
      return is_awaited(member->fast) || (is_slow_wanted && is_awaited(member->slow));
    });
  });
}

void GpuServer::answer_row(uint64_t number, const std::vector<pid_t>& job, RowKind kind) {
  std::unique_lock lock(signal_->mutex);
  // A reading in progress was requested before the end: wait for it and discard it.
  if (kind == RowKind::last) {
    wait_for_members(lock, kind);
    for (const auto& member : members_) {
      member->fast.forget();
      member->slow.forget();
    }
  }
  const int64_t now = monotonic_ns();
  ask_members(job, now, kind);
  wait_for_members(lock, kind);
  update_states(now);
  std::vector<int64_t> row;
  for (const auto& member : members_) {
    for (const std::string& text : member->gpu->take_events()) {
      send_event("gpu", title(*member->gpu) + ": " + text);
    }
    if (member->state != MemberState::good) continue;
    std::vector<int64_t> part(member->gpu->columns.size(), kAbsent);
    member->fast.take(part);
    member->slow.take(part);
    for (size_t i = 0; i < part.size(); ++i) {
      if (member->gpu->is_read(member->gpu->columns[i])) row.push_back(part[i]);
    }
  }
  if (stale_) {
    send(GpuMessage::changed, number, 0, nullptr, 0);
    return;
  }
  send(GpuMessage::row, number, static_cast<uint32_t>(row.size()), row.data(),
       row.size() * sizeof(int64_t));
}

// The number of GPUs may change under us: a driver is reloaded, MIG is switched.
void GpuServer::look_for_changes() {
  std::thread([this] {
    prctl(PR_SET_NAME, "gpu-watch");
    std::vector<int> before;
    for (;;) {
      std::vector<int> now;
      for (const GpuVendor* vendor : gpu_vendors()) {
        if (vendor->count != nullptr) now.push_back(vendor->count(root_));
      }
      if (!before.empty() && now != before) {
        look_again_ = true;
        stale_ = true;
      }
      before = std::move(now);
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }).detach();
}

void GpuServer::send(GpuMessage message, uint64_t number, uint32_t count, const void* data,
                     size_t bytes) {
  GpuHeader header;
  header.message = message;
  header.number = number;
  header.layout = layout_;
  header.count = count;
  std::vector<char> whole(sizeof header + bytes);
  std::memcpy(whole.data(), &header, sizeof header);
  if (bytes > 0) std::memcpy(whole.data() + sizeof header, data, bytes);
  // A recorder that does not read loses the reply and queries again.
  (void)::send(socket_, whole.data(), whole.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void GpuServer::send_event(const std::string& kind, const std::string& text) {
  const Json event = {{"kind", kind}, {"text", text}};
  const std::string json = dump_json(event);
  send(GpuMessage::event, 0, static_cast<uint32_t>(json.size()), json.data(), json.size());
}

void GpuServer::answer_limits(uint64_t number, int64_t each_ns, int64_t buffer_bytes) {
  MachineLimits found;
  found.host = "gpu";
  for (const GpuVendor* vendor : gpu_vendors()) {
    if (vendor->measure != nullptr) vendor->measure(each_ns, buffer_bytes, found);
  }
  const std::string json = dump_json(limits_to_json(found));
  send(GpuMessage::limits, number, static_cast<uint32_t>(json.size()), json.data(), json.size());
}

int GpuServer::serve() {
  std::vector<char> buffer(kMaxGpuMessage);
  bool watching = false;
  while (exit_code_ < 0) {
    const ssize_t n = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (n <= 0) return 0;  // the recorder has ended
    GpuHeader header;
    if (static_cast<size_t>(n) < sizeof header) continue;
    std::memcpy(&header, buffer.data(), sizeof header);
    if (header.version != kGpuProtocol) return 4;
    if (header.message == GpuMessage::ask_layout) {
      answer_layout(header.number);
      if (!std::exchange(watching, true)) look_for_changes();
    }
    const size_t room = (static_cast<size_t>(n) - sizeof header) / sizeof(int64_t);
    std::vector<int64_t> numbers(std::min<size_t>(header.count, room));
    if (!numbers.empty()) {
      std::memcpy(numbers.data(), buffer.data() + sizeof header, numbers.size() * sizeof(int64_t));
    }
    if (header.message == GpuMessage::ask_limits && numbers.size() == 2) {
      answer_limits(header.number, numbers[0], numbers[1]);
    }
    const bool is_last = header.message == GpuMessage::ask_last_row;
    if (header.message != GpuMessage::ask_row && !is_last) continue;
    std::vector<pid_t> job;
    for (const int64_t pid : numbers) job.push_back(static_cast<pid_t>(pid));
    answer_row(header.number, job, is_last ? RowKind::last : RowKind::usual);
  }
  return exit_code_;
}

}  // namespace trainscope
