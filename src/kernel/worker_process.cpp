#include "kernel/worker_process.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

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
// A pool of processes, each with the command line of the one that started the pool.
constexpr std::string_view kCompilerPool = "torch/_inductor/compile_worker";
// A worker has a handful of threads, and the open files of its parent.
constexpr size_t kMostWorkerThreads = 64, kMostOpenFiles = 1024;
constexpr std::string_view kSocket = "socket:[";

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

// Inodes of its sockets.
std::vector<std::string> sockets_of(const std::string& root, pid_t pid) {
  std::vector<std::string> inodes;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      ::opendir(fmt::format("{}/proc/{}/fd", root, pid).c_str()), ::closedir);
  if (folder == nullptr) return inodes;
  std::array<char, 64> target{};
  size_t seen = 0;
  for (const dirent* entry = ::readdir(folder.get()); entry != nullptr && seen < kMostOpenFiles;
       entry = ::readdir(folder.get()), ++seen) {
    const ssize_t size =
        ::readlinkat(::dirfd(folder.get()), entry->d_name, target.data(), target.size());
    if (size <= 0) continue;
    const std::string_view text(target.data(), static_cast<size_t>(size));
    if (!text.starts_with(kSocket) || !text.ends_with(']')) continue;
    inodes.emplace_back(text.substr(kSocket.size(), text.size() - kSocket.size() - 1));
  }
  return inodes;
}

// Python's resource sharer listens in a process that has handed over a file, at
// TMPDIR/pymp-NAME/listener-NAME. A forked process closes that of its parent.
bool has_resource_sharer(const std::string& root, pid_t pid) {
  const std::vector<std::string> inodes = sockets_of(root, pid);
  if (inodes.empty()) return false;
  const std::string table = text_of_process(root, pid, "net/unix");
  for (const std::string_view line : split(table, '\n')) {
    if (line.find("/pymp-") == std::string_view::npos ||
        line.find("/listener-") == std::string_view::npos) {
      continue;
    }
    const bool is_its_own = std::any_of(inodes.begin(), inodes.end(), [&](const auto& inode) {
      return line.find(" " + inode + " ") != std::string_view::npos;
    });
    if (is_its_own) return true;
  }
  return false;
}

}  // namespace

bool is_started_as_worker(std::string_view command, std::string_view parent_command) {
  if (!is_python(command)) return false;
  return command == parent_command ||
         command.find("multiprocessing.spawn") != std::string_view::npos;
}

bool is_compiler(std::string_view name, std::string_view command) {
  return std::find(kCompilers.begin(), kCompilers.end(), name) != kCompilers.end() ||
         command.find(kCompilerPool) != std::string_view::npos;
}

bool is_training_thread(std::string_view name) {
  return std::any_of(kTrainingThreads.begin(), kTrainingThreads.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

ProcessKind kind_of_process(const std::string& root, pid_t pid, std::string_view name,
                            pid_t parent) {
  if (name.starts_with(kWorkerName)) return {WorkerSign::name, false};
  const std::string command = parent == 0 ? "" : text_of_process(root, pid, "cmdline");
  if (is_compiler(name, command)) return {WorkerSign::none, true};
  if (!is_python(command) ||
      !is_started_as_worker(command, text_of_process(root, parent, "cmdline")) ||
      has_training_thread(root, pid)) {
    return {};
  }
  return {has_resource_sharer(root, pid) ? WorkerSign::hands_over_memory : WorkerSign::undecided,
          false};
}

}  // namespace trainscope
