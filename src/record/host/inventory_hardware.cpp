// Processors, disks and the platform: /proc/cpuinfo, /sys/devices/system/cpu, /sys/block, DMI.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "kernel/host_name.h"
#include "record/host/inventory.h"

namespace trainscope {

namespace {

struct Topology {
  std::set<std::pair<int64_t, int64_t>> cores;
  std::set<int64_t> sockets;
  int64_t threads = 0;
};

bool is_cpu_folder(std::string_view name) {
  return name.starts_with("cpu") && parse_integer(name.substr(3)).has_value();
}

// From sysfs: /proc/cpuinfo of a large machine takes milliseconds a CPU on some kernels.
Topology topology_from_sys(const std::string& root) {
  Topology found;
  const std::string folder = root + "/sys/devices/system/cpu";
  for (const std::string& name : names_in(folder)) {
    if (!is_cpu_folder(name)) continue;
    const std::string place = folder + "/" + name + "/topology/";
    const auto socket = number_in(place + "physical_package_id");
    const auto core = number_in(place + "core_id");
    if (!socket || !core) continue;  // offline
    ++found.threads;
    found.sockets.insert(*socket);
    found.cores.insert({*socket, *core});
  }
  return found;
}

Topology topology_from_cpuinfo(const std::string& root) {
  Topology found;
  const auto text = read_beginning(root + "/proc/cpuinfo", size_t{4} << 20);
  if (!text) return found;
  int64_t socket = 0;
  for (const std::string_view line : split(*text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon));
    const auto value = parse_integer(trim(line.substr(colon + 1)));
    if (key == "processor" && value) ++found.threads;
    if (key == "physical id" && value) found.sockets.insert(socket = *value);
    if (key == "core id" && value) found.cores.insert({socket, *value});
  }
  return found;
}

std::optional<int64_t> positive(size_t count) {
  return count == 0 ? std::nullopt : std::optional<int64_t>(static_cast<int64_t>(count));
}

struct Vendor {
  std::string_view part, name;
};
// In this order: Amazon's machines report "Amazon EC2" whatever the hypervisor is.
constexpr std::array<Vendor, 12> kHypervisors = {{{"amazon ec2", "amazon"},
                                                  {"google compute", "google"},
                                                  {"kvm", "kvm"},
                                                  {"qemu", "kvm"},
                                                  {"openstack", "kvm"},
                                                  {"vmware", "vmware"},
                                                  {"virtualbox", "virtualbox"},
                                                  {"innotek", "virtualbox"},
                                                  {"xen", "xen"},
                                                  {"bhyve", "bhyve"},
                                                  {"parallels", "parallels"},
                                                  {"virtual machine", "microsoft"}}};

}  // namespace

void add_processors(OrderedJson& host, const std::string& root) {
  Topology topology = topology_from_sys(root);
  if (topology.threads == 0) topology = topology_from_cpuinfo(root);
  host["cpu_model"] = text_or_null(processor_model(root));
  host["sockets"] = or_null(positive(topology.sockets.size()));
  host["cores"] = or_null(positive(topology.cores.size()));
  host["threads"] = or_null(positive(static_cast<size_t>(topology.threads)));
}

OrderedJson disks(const std::string& root) {
  OrderedJson list = OrderedJson::array();
  const std::string folder = root + "/sys/block";
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram")) continue;
    const std::string place = folder + "/" + name;
    const auto sectors = number_in(place + "/size");  // of 512 bytes, whatever the device's are
    if (sectors && *sectors == 0) continue;           // a drive without a medium
    const auto rotational = number_in(place + "/queue/rotational");
    OrderedJson disk = {{"name", name}};
    disk["size_bytes"] = sectors ? OrderedJson(*sectors * 512) : OrderedJson(nullptr);
    disk["rotational"] = rotational ? OrderedJson(*rotational != 0) : OrderedJson(nullptr);
    disk["model"] = or_null(first_line(place + "/device/model"));
    list.push_back(std::move(disk));
  }
  return list;
}

OrderedJson virtualisation(const std::string& root) {
  const std::string dmi = root + "/sys/class/dmi/id/";
  std::string names;
  for (const char* file : {"sys_vendor", "product_name", "bios_vendor", "board_vendor"}) {
    names += lower(first_line(dmi + file).value_or("")) + "\n";
  }
  for (const Vendor& vendor : kHypervisors) {
    if (names.find(vendor.part) != std::string::npos) return vendor.name;
  }
  if (const auto type = first_line(root + "/sys/hypervisor/type")) return *type;
  const auto cpuinfo = read_beginning(root + "/proc/cpuinfo", 16 * 1024);
  if (!cpuinfo) return nullptr;
  const auto flags = value_of(*cpuinfo, "flags", ':');
  if (!flags) return nullptr;  // not x86: no flag to check
  const auto words = fields(*flags);
  return std::find(words.begin(), words.end(), "hypervisor") != words.end() ? "unknown hypervisor"
                                                                            : "none";
}

}  // namespace trainscope
