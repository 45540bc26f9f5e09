// Which processes of the job load data for another one.
//
// PyTorch 2.6 and later names its data-loader workers. Others are recognised as what Python's
// multiprocessing starts: a copy of a Python process by fork (or of its fork server), or a new
// interpreter that runs multiprocessing.spawn. Limits: a rank of a distributed job may be started
// in the same way; it is told apart by threads that only training has, once it has started them.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace trainscope {

// The name of the thread that copies batches into pinned memory.
inline constexpr std::string_view kPinThread = "pt_data_pin";

// `name`: of the process's first thread; `parent`: a process of the job, 0 if it is none.
bool is_worker_process(const std::string& root, pid_t pid, std::string_view name, pid_t parent);

// By the command lines of a process and of its parent, arguments separated by zero bytes.
bool is_started_as_worker(std::string_view command, std::string_view parent_command);
// By the name of a process: it translates code for the job (torch.compile, extensions), which may
// take more CPU time than the job itself.
bool is_compiler(std::string_view name);
// A thread that forward and backward passes, or collectives, need.
bool is_training_thread(std::string_view name);

}  // namespace trainscope
