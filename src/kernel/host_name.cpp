#include "kernel/host_name.h"

#include <unistd.h>

#include <string_view>

#include "base/fd.h"
#include "base/text.h"
#include "kernel/proc_file.h"

namespace trainscope {

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string processor_model(const std::string& root) {
  ProcFile info;
  // The first processors suffice: the file takes milliseconds per processor on some kernels.
  if (info.open(root + "/proc/cpuinfo", size_t{16} << 10)) {
    const std::string_view text = info.read_all();
    for (const std::string_view key : {"model name", "Model", "Hardware", "cpu model", "cpu"}) {
      for (const std::string_view line : split(text, '\n')) {
        const size_t colon = line.find(':');
        if (colon == std::string_view::npos || trim(line.substr(0, colon)) != key) continue;
        const std::string_view value = trim(line.substr(colon + 1));
        if (!value.empty()) return std::string(value);
      }
    }
  }
  // ARM servers and boards have no model in cpuinfo; the device tree's name is the next best.
  const auto board = read_line(root + "/proc/device-tree/model");
  return board ? board->substr(0, board->find('\0')) : "";
}

int64_t online_processors() {
  // As in a run's inventory: lxcfs shows fewer in other files.
  const std::string folder = "/sys/devices/system/cpu/";
  int64_t count = 0;
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with("cpu") && exists(folder + name + "/topology/core_id")) ++count;
  }
  return count > 0 ? count : ::sysconf(_SC_NPROCESSORS_ONLN);
}

}  // namespace trainscope
