// The parts of host_inventory(), each a function of a root folder, so that tests can use their own.
//
// Guarantees: starts no program and waits for no file (a FIFO or a device in place of a file is
// refused); unknown values are null, never 0 or "". Limits: reads files only, so values that a
// driver provides only by calls (a GPU's memory) come from the GPU source.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "record/host/variables.h"

namespace trainscope {

// The beginning of a regular file, at most `limit` bytes; nothing when it cannot be read.
std::optional<std::string> read_beginning(const std::string& path, size_t limit = 64 * 1024);
// Its first line, trimmed; nothing when that is empty.
std::optional<std::string> first_line(const std::string& path);
std::optional<int64_t> number_in(const std::string& path);
// "0-3,8" as a number of CPUs; nothing when it is no such list.
std::optional<int64_t> count_cpu_list(std::string_view list);
// The text after `key` and its ':' or '=', trimmed and without quotes, in the first line that has
// it.
std::optional<std::string> value_of(std::string_view text, std::string_view key, char separator);

template <typename T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

// How many CPUs a process (0: this one) may use: the affinity mask limits which, the quota of its
// cgroup how much of them.
std::optional<double> usable_cpus(const std::string& root, pid_t pid);

// inventory_hardware.cpp
void add_processors(OrderedJson& host, const std::string& root);
OrderedJson disks(const std::string& root);
OrderedJson virtualisation(const std::string& root);
// inventory_gpu.cpp
void add_gpus(OrderedJson& host, const std::string& root);
// inventory_system.cpp
OrderedJson distribution(const std::string& root);
OrderedJson filesystem_of(const std::string& root, const std::string& path);
OrderedJson container(const std::string& root, const Variables& variables = Variables::ours());
// inventory_software.cpp
OrderedJson software(const std::string& root, const std::string& working_directory,
                     const std::vector<std::string>& command,
                     const Variables& variables = Variables::ours());
// inventory_git.cpp
OrderedJson git_state(const std::string& root, const std::string& working_directory);

}  // namespace trainscope
