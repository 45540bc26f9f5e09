// Distribution, file systems and container: /etc/os-release, /proc/self/mountinfo, marks that
// container tools leave.
#include <array>

#include "base/fd.h"
#include "base/text.h"
#include "collect/support/mounts.h"
#include "record/host/inventory.h"

namespace trainscope {

namespace {

// mountinfo writes blanks and backslashes in names as \040 and the like.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.size() - i >= 4) {
      const int value = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      if (value > 0 && value < 256) {
        out += static_cast<char>(value);
        i += 3;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

struct MountLine {
  std::string point, type, source;
};

// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw"
std::optional<MountLine> parse_mount_line(std::string_view line) {
  const size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  const auto before = fields(line.substr(0, dash));
  const auto after = fields(line.substr(dash + 3));
  if (before.size() < 5 || after.size() < 2) return std::nullopt;
  return MountLine{unescaped(before[4]), std::string(after[0]), unescaped(after[1])};
}

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
  std::optional<MountLine> best;
  for (const std::string_view line : split(*text, '\n')) {
    auto mount = parse_mount_line(line);
    if (!mount || !is_below(path, mount->point)) continue;
    // The later of two on one point hides the earlier.
    if (!best || mount->point.size() >= best->point.size()) best = std::move(mount);
  }
  if (!best) return nullptr;
  return {{"type", best->type}, {"mountpoint", best->point}, {"device", best->source}};
}

OrderedJson container(const std::string& root, const Variables& variables) {
  std::string cgroups = read_beginning(root + "/proc/self/cgroup").value_or("");
  cgroups += read_beginning(root + "/proc/1/cgroup").value_or("");
  const bool slurm = variables.has("SLURM_JOB_ID") || cgroups.find("/slurm") != std::string::npos;
  return {{"kind", container_kind(root, cgroups, variables)},
          {"scheduler", slurm ? OrderedJson("slurm") : OrderedJson()}};
}

}  // namespace trainscope
