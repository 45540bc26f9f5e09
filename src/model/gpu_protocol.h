// The protocol between the recorder and trainscope-gpu over a SOCK_SEQPACKET pair.
//
// The recorder queries, the GPU process replies: a request for the layout gets a layout, one for a
// row gets a row, and events may come before either. A reply has the number of its request, so one
// that comes too late is recognised and dropped. Both are from one build: the version only guards
// against a trainscope-gpu of another build next to the program.
#pragma once

#include <cstdint>

namespace trainscope {

inline constexpr uint32_t kGpuProtocol = 3;
inline constexpr int kMaxGpuMessage = 256 << 10;

enum class GpuMessage : uint32_t {
  ask_layout = 1,  // header only
  ask_row,         // count pids of the job follow, 8 bytes each
  layout,          // JSON follows
  row,             // count raw values follow, 8 bytes each, INT64_MIN if absent
  event,           // JSON follows: {"kind": …, "text": …}
  changed,         // header only: the layout of the requested row is out of date
  ask_last_row,    // as ask_row, including rare columns: the last values of the run
  ask_limits,      // two numbers follow, 8 bytes each: time for each limit, bytes of host memory
  limits,          // JSON follows (model/limits.h)
};

struct GpuHeader {
  uint32_t version = kGpuProtocol;
  GpuMessage message = GpuMessage::ask_layout;
  uint64_t number = 0;  // of the request
  uint32_t layout = 0;  // which layout the values belong to
  uint32_t count = 0;   // values or bytes that follow
};

}  // namespace trainscope
