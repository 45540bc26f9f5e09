// Replies to the recorder: which GPUs there are, and a row of their values on request.
//
// Guarantees: the replying thread never calls a driver, so a reply comes within 0.1 s (a layout
// within 3 s, the last row of a run within 0.4 s) whatever a driver does. Every GPU has two
// threads, one for `fast` and one for `slow` and `rare`; a GPU whose call does not return is left
// out, the others continue. Ends with the recorder. Only a request for limits is answered by the
// thread that calls the driver: `doctor --measure` starts a process for it alone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gpu/gpu.h"
#include "model/gpu_protocol.h"

namespace trainscope {

// Wakes the answering thread when a worker or the finder has something.
struct GpuSignal {
  std::mutex mutex;  // of everything that threads share here
  std::condition_variable answered;
};

// The fast columns of one GPU, or its slow and rare ones, on their own thread.
class GpuWorker {
 public:
  GpuWorker(std::shared_ptr<Gpu> gpu, GpuPace pace, std::shared_ptr<GpuSignal> signal);
  // Under the signal's mutex:
  bool busy() const { return state_->busy; }
  bool has_answered() const { return state_->has_answered; }
  int64_t busy_since_ns() const { return state_->asked_ns; }
  GpuHealth health() const { return state_->health; }
  // `with_rare`: for a slow worker, also read the rare columns.
  void ask(const std::vector<pid_t>& job, bool with_rare);
  // Discards what was read.
  void forget() { state_->fresh = false; }
  // Copies values read since the last call into their places in the row.
  void take(std::span<int64_t> row);

 private:
  struct State {
    std::condition_variable asked;
    bool busy = false, fresh = false, has_answered = false, with_rare = false;
    int64_t asked_ns = 0;
    std::vector<pid_t> job;
    std::vector<int64_t> values;
    GpuHealth health = GpuHealth::ok;
  };
  static void work(const std::shared_ptr<Gpu>& gpu, GpuPace pace,
                   const std::shared_ptr<State>& state, const std::shared_ptr<GpuSignal>& signal);

  std::shared_ptr<Gpu> gpu_;
  GpuPace pace_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class GpuServer {
 public:
  // `only_job`: for a rank that does not record the machine. It gets the columns of the job, and
  // all others of GPUs that only this rank may use.
  GpuServer(int socket, std::string root, bool only_job)
      : socket_(socket), root_(std::move(root)), only_job_(only_job) {}
  // Until the recorder closes its end; the process's exit code.
  int serve();

 private:
  enum class MemberState { good, hangs, lost };
  struct Member {
    std::shared_ptr<Gpu> gpu;
    GpuWorker fast, slow;
    MemberState state = MemberState::good;
    int64_t slow_due_ns = 0, rare_due_ns = 0;
  };

  void answer_layout(uint64_t number);
  void answer_limits(uint64_t number, int64_t each_ns, int64_t buffer_bytes);
  enum class RowKind { usual, last };
  void answer_row(uint64_t number, const std::vector<pid_t>& job, RowKind kind);
  void find();
  FoundGpus find_of(const GpuVendor& vendor) const;
  void merge(std::vector<FoundGpus> found);
  bool forget_lost(const std::string& uuid);
  void update_states(int64_t now_ns);
  void look_for_changes();
  void ask_members(const std::vector<pid_t>& job, int64_t now_ns, RowKind kind);
  void wait_for_members(std::unique_lock<std::mutex>& lock, RowKind kind);
  void send(GpuMessage message, uint64_t number, uint32_t count, const void* data, size_t bytes);
  void send_event(const std::string& kind, const std::string& text);
  std::string layout_json();

  int socket_;
  std::string root_;
  bool only_job_;
  std::shared_ptr<GpuSignal> signal_ = std::make_shared<GpuSignal>();
  std::vector<std::unique_ptr<Member>> members_;
  uint32_t layout_ = 0;
  bool finding_ = false, found_ = false;
  std::vector<FoundGpus> findings_;
  std::string reason_, remedy_;
  std::atomic<bool> stale_{false};      // the layout has changed
  std::atomic<bool> look_again_{true};  // there may be GPUs that are not listed yet
  int64_t retry_ns_ = 0, retry_after_ns_ = 0;
  int exit_code_ = -1;
};

}  // namespace trainscope
