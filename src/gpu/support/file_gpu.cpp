#include "gpu/support/file_gpu.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/text.h"

namespace trainscope {

namespace {

std::optional<int64_t> read_number(const UniqueFd& file, int& error) {
  std::array<char, 64> text{};
  const ssize_t n = ::pread(file.get(), text.data(), text.size(), 0);
  error = n < 0 ? errno : 0;
  if (n <= 0) return std::nullopt;
  return parse_integer(trim(std::string_view(text.data(), static_cast<size_t>(n))));
}

// "drm-memory-vram:\t1234 KiB", "drm-engine-gfx:\t5678 ns"
int64_t amount_of(std::string_view value) {
  const auto words = fields(value);
  if (words.empty()) return 0;
  const int64_t number = parse_integer(words[0]).value_or(0);
  if (words.size() < 2) return number;
  if (words[1] == "KiB") return number << 10U;
  if (words[1] == "MiB") return number << 20U;
  return number;
}

struct Client {
  std::string id;
  bool of_device = false;
  int64_t memory_bytes = 0;
  std::map<std::string, int64_t> engines;
};

Client parse_fdinfo(std::string_view text, const std::string& pci_address) {
  Client client;
  for (const std::string_view line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with("drm-")) continue;
    const std::string_view key = line.substr(0, colon), value = trim(line.substr(colon + 1));
    if (key == "drm-pdev") client.of_device = value == pci_address;
    if (key == "drm-client-id") client.id = value;
    if (key == "drm-memory-vram" || key == "drm-resident-vram0" || key == "drm-resident-local0") {
      client.memory_bytes = std::max(client.memory_bytes, amount_of(value));
    }
    if (key.starts_with("drm-engine-") && !key.starts_with("drm-engine-capacity-")) {
      client.engines[std::string(key.substr(11))] = amount_of(value);
    }
  }
  return client;
}

}  // namespace

DrmUsage read_drm_usage(const std::string& root, const std::vector<pid_t>& job,
                        const std::string& pci_address) {
  DrmUsage usage;
  std::set<std::string> seen;  // a client may be open in several processes
  std::map<std::string, int64_t> engines;
  for (const pid_t pid : job) {
    const std::string folder = fmt::format("{}/proc/{}/fdinfo", root, pid);
    const auto names = list_folder(folder);
    if (!names) continue;
    usage.known = true;
    for (const std::string& name : *names) {
      const auto text = read_file(folder + "/" + name, 1 << 16);
      if (!text || text->find("drm-") == std::string::npos) continue;
      const Client client = parse_fdinfo(*text, pci_address);
      if (!client.of_device || !seen.insert(client.id).second) continue;
      usage.memory_bytes += client.memory_bytes;
      for (const auto& [engine, ns] : client.engines) engines[engine] += ns;
    }
  }
  for (const auto& [engine, ns] : engines) usage.busy_ns = std::max(usage.busy_ns, ns);
  return usage;
}

void FileGpu::add(const char* metric, Labels labels, Scale scale, GpuPace pace,
                  const std::vector<std::string>& paths) {
  std::string reason = "not reported by the GPU driver";
  for (const std::string& path : paths) {
    auto file = open_file(path, O_RDONLY);
    if (!file) {
      if (file.error().error_number() != ENOENT) reason = file.error().message();
      continue;
    }
    int error = 0;
    if (!read_number(*file, error)) {
      reason = error != 0 ? Error::from_errno(path, error).message()
                          : path + " does not contain a number";
      continue;
    }
    labels.emplace_back("gpu", label);
    std::sort(labels.begin(), labels.end());
    columns.push_back({metric, std::move(labels), scale, pace});
    files_.push_back(std::move(*file));
    return;
  }
  add_missing(metric, reason);
}

void FileGpu::add_missing(const char* metric, const std::string& reason,
                          const std::string& remedy) {
  missing.push_back({metric, fmt::format("GPU {}: {}", label, reason), remedy});
}

void FileGpu::add_job() {
  for (const auto& [metric, scale] : {std::pair("job.gpu.memory.usage", Scale{1, 1}),
                                      std::pair("job.gpu.sm_utilization", Scale{1, 10'000})}) {
    columns.push_back({metric, {{"gpu", label}}, scale, GpuPace::slow});
    files_.emplace_back();
  }
}

void FileGpu::read_job(std::span<int64_t> values, const std::vector<pid_t>& job) {
  const DrmUsage usage = read_drm_usage(root_, job, pci_address_);
  const int64_t now = monotonic_ns();
  const int64_t before = std::exchange(busy_ns_, usage.known ? usage.busy_ns : -1);
  const int64_t elapsed = now - std::exchange(busy_at_ns_, now);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].metric == "job.gpu.memory.usage" && usage.known) values[i] = usage.memory_bytes;
    const bool has_two = usage.known && before >= 0 && usage.busy_ns >= before && elapsed > 0;
    if (columns[i].metric == "job.gpu.sm_utilization" && has_two) {
      values[i] = (usage.busy_ns - before) * 10'000 / elapsed;
    }
  }
}

GpuHealth FileGpu::read(GpuPace pace, std::span<int64_t> values, const std::vector<pid_t>& job) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].pace != pace || !is_read(columns[i])) continue;
    values[i] = kAbsent;
    if (!files_[i]) continue;
    int error = 0;
    const auto number = read_number(files_[i], error);
    if (error == ENODEV || error == ENXIO) return GpuHealth::lost;
    values[i] = number.value_or(kAbsent);
  }
  if (pace == GpuPace::slow) read_job(values, job);
  return GpuHealth::ok;
}

std::vector<DrmCard> drm_cards(const std::string& root, std::string_view vendor) {
  std::vector<std::pair<int64_t, DrmCard>> found;
  const std::string drm = root + "/sys/class/drm";
  for (const std::string& name : names_in(drm)) {
    // card0, but not card0-HDMI-A-1
    const auto number = name.starts_with("card") ? parse_integer(name.substr(4)) : std::nullopt;
    if (!number) continue;
    DrmCard card;
    card.device = drm + "/" + name + "/device";
    const auto its_vendor = read_line(card.device + "/vendor");
    if (!its_vendor || trim(*its_vendor) != vendor) continue;
    std::error_code ignored;
    card.pci_address = std::filesystem::canonical(card.device, ignored).filename();
    card.driver = std::filesystem::canonical(card.device + "/driver", ignored).filename();
    found.emplace_back(*number, std::move(card));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<DrmCard> cards;
  for (auto& [number, card] : found) cards.push_back(std::move(card));
  return cards;
}

std::string hwmon_of(const DrmCard& card) {
  const auto names = list_folder(card.device + "/hwmon");
  return !names || names->empty() ? "" : card.device + "/hwmon/" + names->front();
}

}  // namespace trainscope
