// Distribution, file systems and container: /etc/os-release, /proc/self/mountinfo, marks that
// container tools leave.
#include <array>

#include "base/fd.h"
#include "kernel/mounts.h"
#include "record/host/inventory.h"

namespace trainscope {

namespace {

struct Mark {
  std::string_view text, kind;
};
constexpr std::array<Mark, 7> kCgroupMarks = {{{"kubepods", "kubernetes"},
                                               {"libpod", "podman"},
                                               {"docker", "docker"},
                                               {"containerd", "containerd"},
                                               {"lxc", "lxc"},
                                               {"garden", "garden"},
                                               {"machine.slice/systemd-nspawn", "systemd-nspawn"}}};

OrderedJson container_kind(const std::string& root, const std::string& cgroups,
                           const Variables& variables) {
  if (variables.has("KUBERNETES_SERVICE_HOST")) return "kubernetes";
  for (const char* variable : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"}) {
    if (variables.has(variable)) return "apptainer";
  }
  for (const Mark& mark : kCgroupMarks) {
    if (cgroups.find(mark.text) != std::string::npos) return mark.kind;
  }
  if (exists(root + "/run/.containerenv")) return "podman";
  if (exists(root + "/.dockerenv")) return "docker";
  if (const auto kind = variables.get("container"); kind && !kind->empty()) return *kind;
  return nullptr;
}

}  // namespace

OrderedJson distribution(const std::string& root) {
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = read_beginning(root + path);
    if (!text) continue;
    for (const std::string_view key : {"PRETTY_NAME", "NAME"}) {
      if (const auto name = value_of(*text, key, '='); name && !name->empty()) return *name;
    }
  }
  return nullptr;
}

OrderedJson filesystem_of(const std::string& root, const std::string& path) {
  const auto text = read_beginning(root + "/proc/self/mountinfo", size_t{4} << 20);
  if (!text || path.empty()) return nullptr;
  const std::vector<Mount> mounts = parse_mountinfo(*text);
  const Mount* mount = mount_of(mounts, path);
  if (mount == nullptr) return nullptr;
  return {{"type", mount->type}, {"mountpoint", mount->point}, {"device", mount->source}};
}

OrderedJson container(const std::string& root, const Variables& variables) {
  std::string cgroups = read_beginning(root + "/proc/self/cgroup").value_or("");
  cgroups += read_beginning(root + "/proc/1/cgroup").value_or("");
  const bool slurm = variables.has("SLURM_JOB_ID") || cgroups.find("/slurm") != std::string::npos;
  return {{"kind", container_kind(root, cgroups, variables)},
          {"scheduler", slurm ? OrderedJson("slurm") : OrderedJson()}};
}

}  // namespace trainscope
