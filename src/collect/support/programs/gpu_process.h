// The recorder's end of trainscope-gpu: starts it, queries it, survives its failures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "collect/support/programs/helper_process.h"
#include "model/gpu_protocol.h"

namespace trainscope {

class GpuProcess {
 public:
  using EventSink = std::function<void(const std::string& kind, const std::string& text)>;

  GpuProcess() = default;
  GpuProcess(const GpuProcess&) = delete;
  GpuProcess& operator=(const GpuProcess&) = delete;
  ~GpuProcess() { stop(); }

  // The program next to ours. `root` is for fixtures. An Error with ELIBACC, here or from
  // ask_layout: this system cannot load the program, so trying again is no use.
  // `only_job`: leave out what another rank records (gpu/support/server.h).
  Status start(const std::string& root, bool only_job = false);
  // Closes our end, at which it ends; one that hangs is left to the kernel.
  void stop();
  bool running();
  pid_t pid() const { return helper_.pid(); }

  // The layout as JSON.
  Result<std::string> ask_layout(int64_t limit_ns, const EventSink& event_sink);
  // The limits as JSON (model/limits.h).
  Result<std::string> ask_limits(int64_t each_ns, int64_t buffer_bytes, int64_t limit_ns);
  enum class Answer { row, changed, none };
  // One raw value per column; `message` is ask_row or ask_last_row. `none`: no reply in time, or
  // another number of values.
  Answer ask_row(GpuMessage message, const std::vector<pid_t>& job, int64_t limit_ns,
                 const EventSink& event_sink, std::vector<int64_t>& row);

 private:
  bool send(GpuMessage message, const std::vector<int64_t>& values);
  // The reply with the number of the last request; events before it go to the sink.
  bool receive(int64_t until_ns, const EventSink& event_sink, GpuHeader& header, std::string& body);
  // Why there was no reply.
  Error no_reply() const;

  UniqueFd socket_;
  UniqueFd errors_;  // what the program prints on standard error, as far as a pipe holds it
  HelperProcess helper_;
  uint64_t number_ = 0;
  std::vector<char> buffer_;
};

}  // namespace trainscope
