// Versions of a training job's dependencies, from the names of installed packages and a few files.
#include <algorithm>
#include <array>

#include "base/fd.h"
#include "base/text.h"
#include "record/host/inventory.h"
#include "record/host/python.h"

namespace trainscope {

namespace {

// Always present, null if not found: comparisons need these first.
constexpr std::array<std::string_view, 4> kMain = {"tensorflow", "torch", "jax", "numpy"};
constexpr std::array<std::string_view, 20> kOthers = {
    "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "keras",        "tf-keras",
    "torchvision",    "torchdata",      "lightning",  "triton",       "pytorch-lightning",
    "jaxlib",         "flax",           "optax",      "transformers", "accelerate",
    "deepspeed",      "horovod",        "mpi4py",     "webdataset",   "tensorboard"};
// Packages whose names end with the version of CUDA that they are for.
constexpr std::array<std::string_view, 3> kCudaPackages = {"nvidia-cu", "nvidia-nccl",
                                                           "nvidia-dali"};

using Versions = std::map<std::string, std::string>;

OrderedJson package_versions(const Versions& installed) {
  OrderedJson versions = OrderedJson::object();
  for (const std::string_view name : kMain) {
    const auto found = installed.find(std::string(name));
    versions[std::string(name)] =
        found == installed.end() ? OrderedJson(nullptr) : OrderedJson(found->second);
  }
  for (const std::string_view name : kOthers) {
    const auto found = installed.find(std::string(name));
    if (found != installed.end()) versions[found->first] = found->second;
  }
  for (const auto& package : installed) {
    const bool wanted =
        std::any_of(kCudaPackages.begin(), kCudaPackages.end(),
                    [&](std::string_view prefix) { return package.first.starts_with(prefix); });
    if (wanted) versions[package.first] = package.second;
  }
  return versions;
}

struct Found {
  std::string version, from;
};

// "12.2.1" of {"cuda": {"name": "CUDA SDK", "version": "12.2.1"}, …}
std::optional<std::string> version_in_json(const std::string& path) {
  const auto text = read_beginning(path);
  if (!text) return std::nullopt;
  const Json document = parse_json(*text);
  if (!document.is_object() || !document.contains("cuda")) return std::nullopt;
  const Json& cuda = document["cuda"];
  if (!cuda.is_object() || !cuda.contains("version") || !cuda["version"].is_string()) {
    return std::nullopt;
  }
  return cuda["version"].get<std::string>();
}

std::optional<Found> toolkit_in(const std::string& root, const std::string& folder) {
  if (auto version = version_in_json(root + folder + "/version.json")) {
    return Found{*version, folder + "/version.json"};
  }
  const auto line = first_line(root + folder + "/version.txt");  // "CUDA Version 10.1.243"
  if (line && line->starts_with("CUDA Version ")) {
    return Found{line->substr(13), folder + "/version.txt"};
  }
  return std::nullopt;
}

std::optional<Found> runtime_library_in(const std::string& root, const std::string& folder) {
  for (const std::string& name : names_in(root + folder)) {
    constexpr std::string_view kName = "libcudart.so.";
    if (name.starts_with(kName) && name.find('.', kName.size()) != std::string::npos) {
      return Found{name.substr(kName.size()), folder + "/" + name};
    }
  }
  return std::nullopt;
}

// The job's own first: a wheel brings its runtime along, whatever the machine has.
std::optional<Found> cuda_version(const std::string& root, const Versions& installed,
                                  const Variables& variables) {
  for (const auto& [name, version] : installed) {
    if (name.starts_with("nvidia-cuda-runtime")) return Found{version, "package " + name};
  }
  if (const auto torch = installed.find("torch"); torch != installed.end()) {
    const size_t mark = torch->second.find("+cu");  // 2.1.0+cu121
    const std::string digits = mark == std::string::npos ? "" : torch->second.substr(mark + 3);
    if (digits.size() >= 2 && parse_integer(digits)) {
      return Found{digits.substr(0, digits.size() - 1) + "." + digits.back(), "package torch"};
    }
  }
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto folder = variables.get(variable);
    if (folder && folder->starts_with('/')) folders.push_back(*folder);
  }
  folders.emplace_back("/usr/local/cuda");
  for (const std::string& folder : folders) {
    if (auto found = toolkit_in(root, folder)) return found;
    if (auto found = runtime_library_in(root, folder + "/lib64")) return found;
  }
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"}) {
    if (auto found = runtime_library_in(root, folder)) return found;
  }
  return std::nullopt;
}

}  // namespace

OrderedJson software(const std::string& root, const std::string& working_directory,
                     const std::vector<std::string>& command, const Variables& variables) {
  const auto python = find_python(root, working_directory, command, variables);
  const Versions installed = python ? installed_packages(root, *python) : Versions{};
  OrderedJson found;
  found["python"] = nullptr;
  if (python) {
    found["python"] = {{"executable", python->executable},
                       {"prefix", python->prefix},
                       {"version", or_null(python->version)}};
  }
  found["packages"] = package_versions(installed);
  const auto cuda = cuda_version(root, installed, variables);
  found["cuda"] =
      cuda ? OrderedJson{{"version", cuda->version}, {"from", cuda->from}} : OrderedJson(nullptr);
  return found;
}

}  // namespace trainscope
