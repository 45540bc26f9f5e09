// Which processes of the job load data for another one.
//
// PyTorch 2.6 and later names its data-loader workers. Others are what Python's multiprocessing
// starts (a copy of a Python process by fork, or of its fork server, or a new interpreter that runs
// multiprocessing.spawn) and listen on a socket of its resource sharer, by which PyTorch hands the
// memory of a batch to the process that asked for it. Pools, actors and ranks are started in the
// same way and do not have it. Limits: not recognised are workers of an older PyTorch whose batches
// have no tensors, or that share memory by files (sharing strategy file_system): they are
// undecided, and so is any worker until its first batch.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace trainscope {

// The name of the thread that copies batches into pinned memory.
inline constexpr std::string_view kPinThread = "pt_data_pin";

enum class WorkerSign {
  none,
  undecided,  // multiprocessing started it; what it does is unknown
  hands_over_memory,
  name,
};

struct ProcessKind {
  WorkerSign worker = WorkerSign::none;
  // It translates code for the job (torch.compile, extensions), which may take more CPU time than
  // the job itself.
  bool is_compiler = false;
};

// `name`: of the process's first thread; `parent`: a process of the job, 0 if it is none. Reads
// command lines, and the open files of what multiprocessing started.
ProcessKind kind_of_process(const std::string& root, pid_t pid, std::string_view name,
                            pid_t parent);

// By the command lines of a process and of its parent, arguments separated by zero bytes.
bool is_started_as_worker(std::string_view command, std::string_view parent_command);
// By name and command line of a process.
bool is_compiler(std::string_view name, std::string_view command);
// A thread that forward and backward passes, or collectives, need.
bool is_training_thread(std::string_view name);

}  // namespace trainscope
