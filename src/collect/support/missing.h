// Reasons for metrics that a source cannot provide.
#pragma once

#include <span>
#include <string>

#include "collect/collect.h"

namespace trainscope {

inline constexpr const char* kMountProc = "sudo mount -t proc proc /proc";
inline constexpr const char* kMountSys = "sudo mount -t sysfs sysfs /sys";

// None of the metrics, all for one reason.
Opened all_missing(std::span<const MetricSpec> metrics, const std::string& reason,
                   const std::string& remedy);

// True if the processor reports a hypervisor. Slow: for open() only.
bool in_virtual_machine(const std::string& root);

// A name from the hardware or a mount as a label's value: printable, and without separators of
// labels.
std::string label_value(std::string_view text);

}  // namespace trainscope
