#include "record/supervise/instrument.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/clock.h"
#include "base/fd.h"
#include "model/switch_setting.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr const char* kStartup = "/startup";
constexpr const char* kLease = "/probe";  // as probe_lease.py finds it
constexpr const char* kOff = "0";         // as sitecustomize.py understands it

std::string folder_of(const std::string& run_path) {
  return run_path + "/" + std::string(kInstrumentFolder);
}

Status write_text(const std::string& path, std::string_view text) {
  TS_TRY(const UniqueFd fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  return write_all(fd.get(), text);
}

Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Error::from_errno("cannot create the folder " + path, errno);
}

}  // namespace

Status write_instrument_files(const std::string& run_path, const std::string& lease) {
  if (run_path.find(':') != std::string::npos) {
    return Error("the path of the run has a colon, which PYTHONPATH cannot contain");
  }
  const std::string folder = folder_of(run_path);
  TS_CHECK_OK(make_folder(folder));
  for (const InstrumentFile& file : instrument_files()) {
    const std::string path = folder + "/" + std::string(file.path);
    TS_CHECK_OK(make_folder(path.substr(0, path.rfind('/'))));
    TS_CHECK_OK(write_text(path, file.text));
  }
  return lease.empty() ? Status() : write_text(folder + kLease, lease);
}

std::string probe_lease(const Manifest& manifest, int64_t for_ns) {
  const int64_t until_ns =
      for_ns == 0 ? std::numeric_limits<int64_t>::max() : monotonic_ns() + for_ns;
  return fmt::format("key {}\nranks {}\npid {}\nstart_ticks {}\nuntil_ns {}\nfor_ns {}\n",
                     manifest.job.empty() ? manifest.id : manifest.job, manifest.world_size,
                     manifest.supervisor_pid, manifest.supervisor_start_ticks, until_ns, for_ns);
}

std::map<std::string, std::string> instrument_environment(const std::string& run_path,
                                                          std::string_view python_path,
                                                          std::string_view setting) {
  std::string path = folder_of(run_path) + kStartup;
  // An empty entry would be the working directory.
  if (!python_path.empty()) path += ":" + std::string(python_path);
  std::map<std::string, std::string> variables = {{"PYTHONPATH", std::move(path)}};
  if (setting == kOff) variables.emplace(kInstrumentVariable, "");
  return variables;
}

std::string probe_note() {
  return "a probe changed the job in blocks of steps: its speed is not the job's own, and what it "
         "learnt is not to be used where its input was replaced";
}

bool is_instrumented(const Manifest& manifest) { return is_on(manifest, "instrument"); }

std::string no_instrumentation_note() {
  return "--instrument found nothing to observe: the job is not Python 3.7 or later, imports "
         "neither PyTorch, Keras nor JAX or was over before it did, starts Python with -I, -E or "
         "-S, or does not pass PYTHONPATH on (sudo, env -i, srun --export=NONE, a container)";
}

}  // namespace trainscope
