#include "kernel/cgroup_limits.h"

#include <algorithm>

#include "base/text.h"

namespace trainscope {

namespace {

// More than any machine has; v1 writes "no limit" as the largest multiple of its page size.
constexpr int64_t kNoLimit = int64_t{1} << 60;

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Entry {
  bool v2 = false;
  std::string path;
};

// Lines are "4:memory:/slurm/job_7", for v2 "0::/user.slice". A controller of v1 is not in v2.
std::optional<Entry> find_entry(std::string_view text, std::string_view controller) {
  std::optional<Entry> unified;
  Scanner scan(text);
  while (!scan.done()) {
    const std::string_view line = scan.line();
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (!path.starts_with('/')) continue;
    if (controllers.empty()) {
      unified = Entry{true, std::string(path)};
    } else if (has_word(controllers, controller)) {
      return Entry{false, std::string(path)};
    }
  }
  return unified;
}

// The mount that shows the path; otherwise (a container that has the host's path but only its own
// part mounted) any mount of that tree.
const Mount* find_mount(const std::vector<Mount>& mounts, const Entry& entry,
                        std::string_view controller) {
  const Mount* any = nullptr;
  for (const Mount& mount : mounts) {
    const bool right = entry.v2 ? mount.type == "cgroup2"
                                : mount.type == "cgroup" && has_word(mount.options, controller);
    if (!right) continue;
    if (is_below(entry.path, mount.root)) return &mount;
    if (any == nullptr) any = &mount;
  }
  return any;
}

std::string proc_folder(const std::string& root, pid_t pid) {
  return root + "/proc/" + (pid == 0 ? "self" : std::to_string(pid));
}

}  // namespace

std::optional<CgroupPlace> place_cgroup(std::string_view cgroup_text,
                                        const std::vector<Mount>& mounts,
                                        std::string_view controller) {
  const auto entry = find_entry(cgroup_text, controller);
  if (!entry) return std::nullopt;
  const Mount* mount = find_mount(mounts, *entry, controller);
  if (mount == nullptr) return std::nullopt;
  CgroupPlace place{entry->v2, entry->path, {}};
  std::string below;  // the path below the mount point; "/.." is outside of our namespace
  if (is_below(entry->path, mount->root) && entry->path.find("/..") == std::string::npos) {
    below = mount->root == "/" ? entry->path : entry->path.substr(mount->root.size());
  }
  while (!below.empty()) {
    if (below.back() != '/') place.folders.push_back(mount->point + below);
    below.resize(below.rfind('/'));
  }
  place.folders.push_back(mount->point);
  return place;
}

std::optional<CgroupPlace> find_cgroup(const std::string& root, pid_t pid,
                                       std::string_view controller) {
  const auto cgroup = read_file(proc_folder(root, pid) + "/cgroup");
  const auto mountinfo = read_file(proc_folder(root, 0) + "/mountinfo");
  if (!cgroup || !mountinfo) return std::nullopt;
  auto place = place_cgroup(*cgroup, parse_mountinfo(*mountinfo), controller);
  if (!place) return std::nullopt;
  for (std::string& folder : place->folders) folder = root + folder;
  return place;
}

std::optional<int64_t> milli_cpus(int64_t quota_us, int64_t period_us) {
  if (quota_us <= 0 || period_us <= 0 || quota_us > kNoLimit / 1000) return std::nullopt;
  return std::max<int64_t>(1, (quota_us * 1000 + period_us / 2) / period_us);
}

std::optional<int64_t> parse_cpu_max(std::string_view text) {
  Scanner scan(text);
  int64_t quota = 0;
  int64_t period = 0;
  if (!scan.number(quota) || !scan.number(period)) return std::nullopt;
  if (period > kNoLimit) return std::nullopt;
  return milli_cpus(quota, period);
}

std::optional<int64_t> parse_memory_limit(std::string_view text) {
  int64_t bytes = 0;
  if (!Scanner(text).number(bytes) || bytes >= kNoLimit) return std::nullopt;
  return bytes;
}

void CgroupLimitReader::open(const CgroupPlace& place, CgroupResource resource) {
  levels_.clear();
  v2_ = place.v2;
  resource_ = resource;
  const bool cpu = resource == CgroupResource::cpu;
  const char* name = cpu ? (v2_ ? "/cpu.max" : "/cpu.cfs_quota_us")
                         : (v2_ ? "/memory.max" : "/memory.limit_in_bytes");
  for (size_t i = 0; i < place.folders.size(); ++i) {
    Level level;
    level.level = i;
    if (!level.limit.open(place.folders[i] + name, 64)) continue;
    if (cpu && !v2_ && !level.period.open(place.folders[i] + "/cpu.cfs_period_us", 64)) continue;
    levels_.push_back(std::move(level));
  }
}

std::optional<int64_t> CgroupLimitReader::read_level(Level& level) const {
  if (resource_ == CgroupResource::memory) return parse_memory_limit(level.limit.read());
  if (v2_) return parse_cpu_max(level.limit.read());
  int64_t quota = 0;
  int64_t period = 0;
  if (!level.limit.read_number(quota) || !level.period.read_number(period)) return std::nullopt;
  return milli_cpus(quota, period);
}

std::optional<CgroupLimitReader::Limit> CgroupLimitReader::read() {
  std::optional<Limit> smallest;
  for (Level& level : levels_) {
    const auto value = read_level(level);
    if (value && (!smallest || *value <= smallest->value)) smallest = Limit{level.level, *value};
  }
  return smallest;
}

CgroupLimits read_cgroup_limits(const std::string& root, pid_t pid) {
  CgroupLimits limits;
  limits.version = "none";
  const auto cpu = find_cgroup(root, pid, "cpu");
  const auto memory = find_cgroup(root, pid, "memory");
  CgroupLimitReader reader;
  if (cpu) {
    reader.open(*cpu, CgroupResource::cpu);
    if (const auto limit = reader.read()) limits.cpus = static_cast<double>(limit->value) / 1000;
    limits.path = cpu->path;
    limits.version = cpu->v2 ? "v2" : "v1";
  }
  if (memory) {
    reader.open(*memory, CgroupResource::memory);
    if (const auto limit = reader.read()) limits.memory_bytes = limit->value;
    if (memory->path != "/" || limits.path.empty()) limits.path = memory->path;
    limits.version = cpu && cpu->v2 != memory->v2 ? "hybrid" : memory->v2 ? "v2" : "v1";
  }
  return limits;
}

}  // namespace trainscope
