#include "record/host/inventory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/fd.h"
#include "base/text.h"
#include "kernel/cgroup_limits.h"
#include "record/record.h"

namespace trainscope {

namespace {

// An integral number of CPUs stays an integer in JSON; half a CPU cannot.
OrderedJson cpus_json(std::optional<double> cpus) {
  if (!cpus) return nullptr;
  const double rounded = std::round(*cpus);
  if (rounded == *cpus) return static_cast<int64_t>(rounded);
  return *cpus;
}

std::string process_folder(const std::string& root, pid_t pid) {
  return root + "/proc/" + (pid == 0 ? std::string("self") : std::to_string(pid));
}

// "0,2-3"
std::optional<std::string> allowed_cpu_list(const std::string& root, pid_t pid) {
  const auto status = read_beginning(process_folder(root, pid) + "/status");
  return status ? value_of(*status, "Cpus_allowed_list", ':') : std::nullopt;
}

std::optional<int64_t> allowed_cpus(const std::string& root, pid_t pid) {
  const auto list = allowed_cpu_list(root, pid);
  return list ? count_cpu_list(*list) : std::nullopt;
}

std::optional<double> smaller_of(std::optional<int64_t> allowed, std::optional<double> quota) {
  std::optional<double> cpus;
  if (allowed) cpus = static_cast<double>(*allowed);
  if (quota && (!cpus || *quota < *cpus)) cpus = quota;
  return cpus;
}

void add_limits(OrderedJson& host, const std::string& root, pid_t pid) {
  const CgroupLimits limits = read_cgroup_limits(root, pid);
  const auto allowed = allowed_cpus(root, pid);
  host["job_cpus"] = cpus_json(smaller_of(allowed, limits.cpus));
  host["allowed_cpus"] = or_null(allowed);
  host["allowed_cpu_list"] = or_null(allowed_cpu_list(root, pid));
  host["cgroup"] = {{"version", limits.version},
                    {"path", limits.path},
                    {"cpus", cpus_json(limits.cpus)},
                    {"memory_bytes", or_null(limits.memory_bytes)}};
}

std::optional<int64_t> memory_bytes(const std::string& root) {
  const auto text = read_beginning(root + "/proc/meminfo");
  if (!text) return std::nullopt;
  const auto value = value_of(*text, "MemTotal", ':');
  if (!value) return std::nullopt;
  const auto kib = parse_integer(value->substr(0, value->find(' ')));
  return kib ? std::optional<int64_t>(*kib * 1024) : std::nullopt;
}

}  // namespace

std::optional<std::string> read_beginning(const std::string& path, size_t limit) {
  const auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return std::nullopt;
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::string text(limit, '\0');
  size_t have = 0;
  while (have < limit) {
    const ssize_t n = ::read(fd->get(), text.data() + have, limit - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  text.resize(have);
  return text;
}

std::optional<std::string> first_line(const std::string& path) {
  const auto text = read_beginning(path, 4096);
  if (!text) return std::nullopt;
  const std::string line(trim(std::string_view(*text).substr(0, text->find('\n'))));
  return line.empty() ? std::nullopt : std::optional<std::string>(line);
}

std::optional<int64_t> number_in(const std::string& path) {
  const auto line = first_line(path);
  return line ? parse_integer(*line) : std::nullopt;
}

std::optional<int64_t> count_cpu_list(std::string_view list) {
  int64_t count = 0;
  for (const std::string_view part : split(trim(list), ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    count += *last - *first + 1;
  }
  return count;
}

std::optional<std::string> value_of(std::string_view text, std::string_view key, char separator) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    line = trim(line);
    if (!line.starts_with(separator)) continue;
    line = trim(line.substr(1));
    if (line.size() >= 2 && line.front() == line.back() && (line[0] == '"' || line[0] == '\'')) {
      line = line.substr(1, line.size() - 2);
    }
    return std::string(line);
  }
  return std::nullopt;
}

std::optional<double> usable_cpus(const std::string& root, pid_t pid) {
  return smaller_of(allowed_cpus(root, pid), read_cgroup_limits(root, pid).cpus);
}

std::string host_inventory(const std::string& root, const std::string& working_directory,
                           const std::vector<std::string>& command, const std::string& run_folder,
                           pid_t pid) {
  const Variables variables = pid == 0 ? Variables::ours() : Variables::of(pid);
  OrderedJson host;
  host["name"] = or_null(first_line(root + "/proc/sys/kernel/hostname"));
  host["kernel"] = or_null(first_line(root + "/proc/sys/kernel/osrelease"));
  host["distribution"] = distribution(root);
  add_processors(host, root);
  host["memory_bytes"] = or_null(memory_bytes(root));
  add_limits(host, root, pid);
  host["virtualisation"] = virtualisation(root);
  host["container"] = container(root, variables);
  host["disks"] = disks(root);
  host["filesystems"] = {{"working_directory", filesystem_of(root, working_directory)},
                         {"run_folder", filesystem_of(root, run_folder)}};
  add_gpus(host, root);
  host["software"] = software(root, working_directory, command, variables);
  host["git"] = git_state(root, working_directory);
  host["environment"] = selected_environment(variables);
  // Names from outside may be any bytes: they must not make the document unwritable.
  return dump_json(host);
}

}  // namespace trainscope
