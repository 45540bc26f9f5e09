#include "collect/support/threads/block_delay.h"

#include "base/text.h"
#include "kernel/proc_file.h"

namespace trainscope {

std::optional<Missing> missing_block_delay(const std::string& root, std::string_view metric) {
  const std::string setting = line_or_empty(root + "/proc/sys/kernel/task_delayacct");
  if (setting == "0") {
    return Missing{metric, "kernel.task_delayacct is 0: the kernel does not measure it",
                   "sudo sysctl kernel.task_delayacct=1, before the job starts"};
  }
  if (!setting.empty()) return std::nullopt;
  // Without this setting (before Linux 5.14) it was always measured, unless switched off at boot.
  const std::string release = line_or_empty(root + "/proc/sys/kernel/osrelease");
  const auto version = split(release, '.');
  const auto number = [&](size_t i) {
    return i < version.size() ? parse_integer(version[i]).value_or(0) : 0;
  };
  const bool is_newer = number(0) > 5 || (number(0) == 5 && number(1) >= 14);
  const bool is_off =
      line_or_empty(root + "/proc/cmdline").find("nodelayacct") != std::string::npos;
  if (!is_newer && !is_off && number(0) > 0) return std::nullopt;
  return Missing{metric, "this kernel does not measure it", "a kernel with CONFIG_TASK_DELAY_ACCT"};
}

}  // namespace trainscope
