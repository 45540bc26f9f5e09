#include "collect/support/missing.h"

#include "base/text.h"
#include "kernel/proc_file.h"

namespace trainscope {

Opened all_missing(std::span<const MetricSpec> metrics, const std::string& reason,
                   const std::string& remedy) {
  Opened opened;
  for (const MetricSpec& spec : metrics) opened.missing.push_back({spec.name, reason, remedy});
  return opened;
}

bool in_virtual_machine(const std::string& root) {
  ProcFile cpuinfo;
  // The first processor's lines are enough; all of them take milliseconds on a large machine.
  if (!cpuinfo.open(root + "/proc/cpuinfo", 16 * 1024)) return false;
  Scanner scan(cpuinfo.read());
  while (!scan.done()) {
    if (scan.take("flags")) {
      for (const std::string_view flag : fields(scan.line())) {
        if (flag == "hypervisor") return true;
      }
      return false;
    }
    scan.next_line();
  }
  return false;
}

std::string label_value(std::string_view text) {
  std::string value = printable(trim(text));
  for (char& c : value) {
    if (c == ';' || c == '=' || c == '{' || c == '}' || c == '"') c = '_';
  }
  return value;
}

}  // namespace trainscope
