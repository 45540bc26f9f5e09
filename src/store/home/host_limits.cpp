#include "store/home/host_limits.h"

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "base/fd.h"
#include "base/json.h"
#include "store/home/make_folders.h"

namespace trainscope {

namespace {

constexpr size_t kMostBytes = 256 << 10;

std::string limits_folder(const std::string& home) { return home + "/limits"; }

// A host may have any name; a file may not.
std::string file_name(const std::string& host) {
  std::string name = host.empty() ? "unnamed" : host;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; },
      '_');
  if (name.front() == '.') name.front() = '_';
  return name + ".json";
}

}  // namespace

std::string host_limits_path(const std::string& home, const std::string& host) {
  return limits_folder(home) + "/" + file_name(host);
}

Result<std::optional<MachineLimits>> read_host_limits(const std::string& home,
                                                      const std::string& host) {
  const std::string path = host_limits_path(home, host);
  const auto text = read_regular_file(path, kMostBytes);
  if (!text && text.error().error_number() == ENOENT) return std::optional<MachineLimits>();
  if (!text) return text.error();
  TS_TRY(MachineLimits limits, limits_from_json(parse_json(*text)).with_context(path));
  return std::optional<MachineLimits>(std::move(limits));
}

Status write_host_limits(const std::string& home, const MachineLimits& limits) {
  if (home.empty()) return Error("no folder for runs: set TRAINSCOPE_HOME or HOME");
  TS_CHECK_OK(make_folders(limits_folder(home)));
  return replace_file(host_limits_path(home, limits.host),
                      dump_json(limits_to_json(limits), 1) + "\n");
}

}  // namespace trainscope
