#include "record/host/launcher_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/crc32c.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr std::string_view kJobCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:@+=";

// A value that cannot be part of an id, or is too long, is shortened and gets its checksum, so that
// two values stay different.
std::string job_id(std::string_view launcher, std::string_view value) {
  std::string id = fmt::format("{}-{}", launcher, value.substr(0, kMaxJobBytes));
  const size_t before = id.size();
  std::erase_if(id, [](char c) { return kJobCharacters.find(c) == std::string_view::npos; });
  if (id.size() == before && value.size() <= kMaxJobBytes && id.size() <= kMaxJobBytes) return id;
  const std::string sum = fmt::format("-{:08x}", crc32c(value));
  return id.substr(0, kMaxJobBytes - sum.size()) + sum;
}

std::string variable_text(const Variables& variables, const char* name) {
  return variables.get(name).value_or("");
}

// "4711.0", of an array "4700_3.0": as Slurm's own commands write it.
std::string slurm_job(const Variables& variables, const Rank& rank) {
  std::string job = variable_text(variables, "SLURM_JOB_ID");
  const std::string step = variable_text(variables, "SLURM_STEP_ID");
  // Without a step it is the batch script, in which other launchers may start several jobs.
  if (job.empty() || (step.empty() && !rank.from.starts_with("SLURM_"))) return "";
  const std::string array = variable_text(variables, "SLURM_ARRAY_JOB_ID");
  const std::string task = variable_text(variables, "SLURM_ARRAY_TASK_ID");
  if (!array.empty() && !task.empty()) job = array + "_" + task;
  return step.empty() ? job : job + "." + step;
}

// torchrun creates a folder for each start on a host, in which each rank has a file for its errors:
// …/none_x81k2f/attempt_0/3/error.json.
std::string torchrun_folder(const Variables& variables) {
  const std::string file = variable_text(variables, "TORCHELASTIC_ERROR_FILE");
  const size_t end = file.rfind("/attempt_");
  return end == std::string::npos ? "" : file.substr(0, end);
}

// Of a launcher that has no id: what the ranks that it started on one host share.
std::string unnamed_job(const Variables& variables, const LauncherProcess& parent) {
  const std::string address = variable_text(variables, "MASTER_ADDR");
  const std::string meeting =
      address.empty() ? "" : address + ":" + variable_text(variables, "MASTER_PORT");
  const std::string folder = torchrun_folder(variables);
  const std::string started =
      folder.empty() ? fmt::format("{}/{}/{}", parent.boot_id, parent.pid, parent.start_ticks)
                     : folder;
  return job_id(folder.empty() ? "ranks" : "torchrun",
                fmt::format("{:08x}", crc32c(meeting + "\n" + started)));
}

std::string job_of(const Variables& variables, const Rank& rank, const LauncherProcess& parent) {
  const std::string elastic = variable_text(variables, "TORCHELASTIC_RUN_ID");
  if (rank.from == "RANK" && !elastic.empty() && elastic != "none") {
    return job_id("torchrun", elastic);
  }
  if (rank.from == "OMPI_COMM_WORLD_RANK") {
    for (const char* name : {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"}) {
      if (const std::string id = variable_text(variables, name); !id.empty()) {
        return job_id("openmpi", id);
      }
    }
  }
  if (const std::string id = slurm_job(variables, rank); !id.empty()) return job_id("slurm", id);
  for (const char* name : {"PMI_JOBID", "PMIX_NAMESPACE"}) {
    if (const std::string id = variable_text(variables, name); !id.empty())
      return job_id("mpi", id);
  }
  return unnamed_job(variables, parent);
}

}  // namespace

LauncherJob launcher_job(const Variables& variables, const Rank& rank,
                         const LauncherProcess& parent) {
  if (rank.from.empty() || rank.world_size <= 1) return {};
  LauncherJob job{job_of(variables, rank, parent), 0};
  for (const char* name : {"TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"}) {
    const auto count = parse_integer(variable_text(variables, name));
    if (count && *count > 0) job.restart = std::max(job.restart, *count);
  }
  return job;
}

}  // namespace trainscope
