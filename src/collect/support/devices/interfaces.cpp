#include "collect/support/devices/interfaces.h"

#include <algorithm>

namespace trainscope {

namespace {

constexpr const char* kFolder = "/sys/class/net";
constexpr size_t kNetDevCapacity = 64 * 1024;

bool is_down(ProcFile& operstate) {
  const std::string_view state = Scanner(operstate.read()).word();
  return state == "down" || state == "lowerlayerdown" || state == "notpresent";
}

// Bytes, packets, errors, dropped and four more that are not used.
bool take_direction(Scanner& scan, std::array<int64_t, NetDevLine::kFields>& fields) {
  for (int64_t& field : fields) {
    if (!scan.number(field)) return false;
  }
  for (int i = 0; i < 4; ++i) scan.skip_word();
  return true;
}

std::vector<std::string> names_in_table(const std::string& root) {
  std::vector<std::string> names;
  ProcFile file;
  if (!file.open(root + "/proc/net/dev", kNetDevCapacity)) return names;
  Scanner scan(file.read_all());
  NetDevLine line;
  while (next_net_dev_line(scan, line)) names.emplace_back(line.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

void Interfaces::open(const std::string& root) {
  names_.clear();
  down_.clear();
  watch_.open(root + kFolder);
  const std::vector<std::string> counted = names_in_table(root);
  const auto found = list_folder(root + kFolder);
  if (!found) {
    names_ = counted;
    return;
  }
  for (const std::string& name : *found) {
    // /sys may have been mounted in another network namespace than ours.
    if (!counted.empty() && !std::binary_search(counted.begin(), counted.end(), name)) continue;
    const std::string folder = root + kFolder + "/" + name;
    if (!exists(folder + "/statistics")) continue;  // bonding_masters is a file
    ProcFile operstate;
    if (operstate.open(folder + "/operstate", 64) && is_down(operstate)) {
      down_.push_back(std::move(operstate));
    } else {
      names_.push_back(name);
    }
  }
}

bool Interfaces::changed() {
  if (watch_.changed()) return true;
  return std::any_of(down_.begin(), down_.end(), [](ProcFile& file) { return !is_down(file); });
}

bool next_net_dev_line(Scanner& scan, NetDevLine& line) {
  while (!scan.done()) {
    const std::string_view text = scan.line();
    const size_t colon = text.rfind(':');  // an alias is named eth0:1
    if (colon == std::string_view::npos) continue;
    Scanner numbers(text.substr(colon + 1));
    line.name = Scanner(text.substr(0, colon)).word();
    if (line.name.empty()) continue;
    if (take_direction(numbers, line.receive) && take_direction(numbers, line.transmit))
      return true;
  }
  return false;
}

}  // namespace trainscope
