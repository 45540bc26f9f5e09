// The network interfaces that are up, and the lines of /proc/net/dev.
//
// Guarantees: changed() and parsing do not allocate.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/folder_watch.h"
#include "kernel/proc_file.h"

namespace trainscope {

class Interfaces {
 public:
  // Finds those that are up (or have no state, like lo), sorted. Without /sys/class/net, all that
  // are in /proc/net/dev.
  void open(const std::string& root);
  const std::vector<std::string>& names() const { return names_; }
  // True when an interface came, went, or was down at open() and no longer is.
  bool changed();

 private:
  std::vector<std::string> names_;
  std::vector<ProcFile> down_;  // the state files of those that are down
  FolderWatch watch_;
};

// Fields of one direction, in the file's order.
struct NetDevLine {
  enum Field : size_t { bytes, packets, errors, dropped, kFields };
  std::string_view name;
  std::array<int64_t, kFields> receive{};
  std::array<int64_t, kFields> transmit{};
};

// Takes the next interface; false at the end. Heads and lines not understood are passed over.
bool next_net_dev_line(Scanner& scan, NetDevLine& line);

}  // namespace trainscope
