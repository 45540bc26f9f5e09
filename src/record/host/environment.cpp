// The stored part of the environment, and the rank assigned by a launcher.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/fd.h"
#include "base/text.h"
#include "record/host/secret_names.h"
#include "record/host/variables.h"
#include "record/record.h"

namespace trainscope {

namespace {

constexpr size_t kMaxValueBytes = 4096;

constexpr std::array<std::string_view, 30> kPrefixes = {
    "CUDA_",  "NVIDIA_", "NCCL_", "OMP_",     "KMP_",   "GOMP_",  "MKL_",     "OPENBLAS_",
    "BLIS_",  "TF_",     "XLA_",  "TPU_",     "JAX_",   "TORCH",  "PYTORCH_", "PYTHON",
    "SLURM_", "PMI_",    "PMIX_", "OMPI_",    "MPI_",   "MV2_",   "UCX_",     "FI_",
    "ROCR_",  "HIP_",    "HSA_",  "HOROVOD_", "KERAS_", "MALLOC_"};
constexpr std::array<std::string_view, 18> kNames = {"LD_LIBRARY_PATH",
                                                     "LD_PRELOAD",
                                                     "RANK",
                                                     "WORLD_SIZE",
                                                     "LOCAL_RANK",
                                                     "LOCAL_WORLD_SIZE",
                                                     "GROUP_RANK",
                                                     "NODE_RANK",
                                                     "MASTER_ADDR",
                                                     "MASTER_PORT",
                                                     "VIRTUAL_ENV",
                                                     "CONDA_PREFIX",
                                                     "CONDA_DEFAULT_ENV",
                                                     "TOKENIZERS_PARALLELISM",
                                                     "HOSTNAME",
                                                     "LANG",
                                                     "TZ",
                                                     "TMPDIR"};

bool is_wanted(std::string_view name) {
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

struct RankVariables {
  const char* rank;
  const char* size;
  const char* local;
};
// The innermost launcher first: torchrun or mpirun within a Slurm step made the process that we
// are.
constexpr std::array<RankVariables, 6> kLaunchers = {{
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
    {"PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID"},
}};

std::optional<int64_t> number_of(const Variables& variables, const char* name) {
  const auto text = variables.get(name);
  if (!text) return std::nullopt;
  const auto number = parse_integer(*text);
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

void Variables::add(std::string_view entry) {
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos || equals == 0) return;
  all_.emplace(entry.substr(0, equals), entry.substr(equals + 1));
}

Variables Variables::ours() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    variables.add(*entry);
  }
  return variables;
}

Variables Variables::of(pid_t pid) {
  Variables variables;
  const auto text = read_file(fmt::format("/proc/{}/environ", pid));
  if (!text) return variables;  // unknown is better than our own rank
  for (const std::string_view entry : split(*text, '\0')) variables.add(entry);
  return variables;
}

std::map<std::string, std::string> selected_environment(const Variables& variables) {
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : variables.all()) {
    if (!is_wanted(name)) continue;
    kept[name] =
        names_secret(name) ? "***" : redact_text(std::string_view(value).substr(0, kMaxValueBytes));
  }
  return kept;
}

Rank rank_from_environment(const Variables& variables) {
  for (const RankVariables& launcher : kLaunchers) {
    const auto rank = number_of(variables, launcher.rank);
    const auto size = number_of(variables, launcher.size);
    // RANK alone is too common a name; PMIx alone does not give the world size.
    if (!rank || (!size && std::string_view(launcher.rank) == "RANK")) continue;
    Rank found;
    found.rank = *rank;
    found.world_size = std::max<int64_t>(size.value_or(1), *rank + 1);
    found.local_rank = number_of(variables, launcher.local).value_or(0);
    found.from = launcher.rank;
    return found;
  }
  return {};
}

}  // namespace trainscope
