// The parts of host_inventory(), each a function of a root folder, so that tests give their own.
//
// Guarantees: no program is started, no file is waited for (a FIFO or a device in the place of a
// file is refused); what is unknown is null, never 0 or "". Limits: reads files only, so what a
// driver tells by calls alone (a GPU's memory) comes from the GPU's own source.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/variables.h"

namespace trainscope {

using Json = nlohmann::ordered_json;

// The beginning of a regular file, at most `limit` bytes; nothing when it cannot be read.
std::optional<std::string> read_beginning(const std::string& path, size_t limit = 64 * 1024);
// Its first line, trimmed; nothing when that is empty.
std::optional<std::string> first_line(const std::string& path);
std::optional<int64_t> number_in(const std::string& path);
// Names in a folder, sorted; empty when it cannot be read.
std::vector<std::string> names_in(const std::string& folder);
// "0-3,8" as a number of CPUs; nothing when it is no such list.
std::optional<int64_t> count_cpu_list(std::string_view list);
// The text after `key` and its ':' or '=', trimmed and without quotes, in the first line that has
// it.
std::optional<std::string> value_of(std::string_view text, std::string_view key, char separator);

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// How many CPUs a process (0: this one) may use: the affinity mask says which, the quota of its
// cgroup how much of them.
std::optional<double> usable_cpus(const std::string& root, pid_t pid);

// inventory_hardware.cpp
void add_processors(Json& host, const std::string& root);
Json disks(const std::string& root);
Json virtualisation(const std::string& root);
// inventory_gpu.cpp
void add_gpus(Json& host, const std::string& root);
// inventory_system.cpp
Json distribution(const std::string& root);
Json filesystem_of(const std::string& root, const std::string& path);
Json container(const std::string& root, const Variables& variables = Variables::ours());
// inventory_software.cpp
Json software(const std::string& root, const std::string& working_directory,
              const std::vector<std::string>& command,
              const Variables& variables = Variables::ours());
// inventory_git.cpp
Json git_state(const std::string& root, const std::string& working_directory);

}  // namespace trainscope
