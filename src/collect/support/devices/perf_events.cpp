#include "collect/support/devices/perf_events.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope {

Result<UniqueFd> open_perf_event(const PerfKind& kind, pid_t thread, PerfStart start,
                                 bool user_only, int leader) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = kind.type;
  attr.config = kind.config;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.inherit = 1;
  attr.exclude_kernel = user_only ? 1 : 0;
  attr.exclude_hv = user_only ? 1 : 0;
  // A follower is on when its leader is.
  attr.disabled = start == PerfStart::at_exec && leader < 0 ? 1 : 0;
  attr.enable_on_exec = attr.disabled;
  const long fd = ::syscall(SYS_perf_event_open, &attr, thread, -1, leader, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return Error::from_errno("perf_event_open", errno);
  return UniqueFd(static_cast<int>(fd));
}

std::optional<PerfValue> read_perf_event(int fd) {
  std::array<uint64_t, 3> raw{};  // value, time enabled, time running
  ssize_t n = 0;
  do {
    n = ::read(fd, raw.data(), sizeof raw);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof raw) return std::nullopt;
  PerfValue value{static_cast<double>(raw[0]), static_cast<int64_t>(raw[1]),
                  static_cast<int64_t>(raw[2])};
  if (value.running_ns == 0) {
    // Nothing has run yet: 0 is true. It was enabled and never counted: nothing is known.
    if (value.enabled_ns == 0) return value;
    return std::nullopt;
  }
  value.count *= static_cast<double>(value.enabled_ns) / static_cast<double>(value.running_ns);
  return value;
}

PerfRefusal explain_perf_error(int error_number, bool hardware, const std::string& root) {
  switch (error_number) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      if (!hardware) return {"not counted by this kernel", ""};
      return in_virtual_machine(root)
                 ? PerfRefusal{"this virtual machine shows no counters of the processor",
                               "give the machine a virtual PMU (QEMU: -cpu host,pmu=on)"}
                 : PerfRefusal{"not counted by the processor, or not supported by the kernel", ""};
    case EACCES:
    case EPERM: {
      const std::string level = line_or_empty(root + "/proc/sys/kernel/perf_event_paranoid");
      if (parse_integer(level).value_or(0) > 2) {
        return {"no permission: kernel.perf_event_paranoid is " + level,
                "sudo sysctl kernel.perf_event_paranoid=2"};
      }
      return {"no permission to count: the container or a security policy forbids perf_event_open",
              "docker run --cap-add PERFMON, or a seccomp profile that allows perf_event_open"};
    }
    case ENOSYS:
      return {"this kernel is built without perf events", ""};
    case EMFILE:
      return {"too many threads to count them all: the limit of open files is reached",
              "ulimit -n 65536"};
    case ESRCH:
      return {"the job had ended before it could be counted", ""};
    default:
      return {Error::from_errno("perf_event_open", error_number).message(), ""};
  }
}

}  // namespace trainscope
