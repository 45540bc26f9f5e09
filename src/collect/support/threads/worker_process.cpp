#include "collect/support/threads/worker_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/fd.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr std::string_view kWorkerName = "pt_data_worker";
constexpr std::array<std::string_view, 4> kTrainingThreads = {"pt_autograd", "pt_gloo", "pt_nccl",
                                                              "cuda"};
constexpr std::array<std::string_view, 16> kCompilers = {
    "cc1",   "cc1plus", "lto1", "collect2", "ld",    "ld.lld",          "g++",      "gcc",
    "clang", "clang++", "nvcc", "cicc",     "ptxas", "ptxas-blackwell", "cudafe++", "ninja"};
// A worker has a handful of threads.
constexpr size_t kMostWorkerThreads = 64;

std::string text_of_process(const std::string& root, pid_t pid, std::string_view file) {
  auto text = read_file(fmt::format("{}/proc/{}/{}", root, pid, file), size_t{1} << 20);
  return text ? std::move(*text) : std::string();
}

bool is_python(std::string_view command) {
  const std::string_view program = command.substr(0, command.find('\0'));
  const std::string_view name = program.substr(program.rfind('/') + 1);  // npos + 1 is 0
  return name.starts_with("python") || name.starts_with("pypy");
}

bool has_training_thread(const std::string& root, pid_t pid) {
  const auto tids = names_in(fmt::format("{}/proc/{}/task", root, pid));
  if (tids.size() > kMostWorkerThreads) return true;
  return std::any_of(tids.begin(), tids.end(), [&](const std::string& tid) {
    return is_training_thread(trim(text_of_process(root, pid, "task/" + tid + "/comm")));
  });
}

}  // namespace

bool is_started_as_worker(std::string_view command, std::string_view parent_command) {
  if (!is_python(command)) return false;
  return command == parent_command ||
         command.find("multiprocessing.spawn") != std::string_view::npos;
}

bool is_compiler(std::string_view name) {
  return std::find(kCompilers.begin(), kCompilers.end(), name) != kCompilers.end();
}

bool is_training_thread(std::string_view name) {
  return std::any_of(kTrainingThreads.begin(), kTrainingThreads.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_worker_process(const std::string& root, pid_t pid, std::string_view name, pid_t parent) {
  if (name.starts_with(kWorkerName)) return true;
  if (parent == 0) return false;
  const std::string command = text_of_process(root, pid, "cmdline");
  if (!is_python(command)) return false;
  return is_started_as_worker(command, text_of_process(root, parent, "cmdline")) &&
         !has_training_thread(root, pid);
}

}  // namespace trainscope
