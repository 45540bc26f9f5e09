#include "record/supervise/instrument.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr const char* kStartup = "/startup";
constexpr const char* kOff = "0";  // as sitecustomize.py understands it

std::string folder_of(const std::string& run_path) {
  return run_path + "/" + std::string(kInstrumentFolder);
}

Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Error::from_errno("cannot create the folder " + path, errno);
}

}  // namespace

Status write_instrument_files(const std::string& run_path) {
  if (run_path.find(':') != std::string::npos) {
    return Error("the path of the run has a colon, which PYTHONPATH cannot contain");
  }
  const std::string folder = folder_of(run_path);
  TS_CHECK_OK(make_folder(folder));
  for (const InstrumentFile& file : instrument_files()) {
    const std::string path = folder + "/" + std::string(file.path);
    TS_CHECK_OK(make_folder(path.substr(0, path.rfind('/'))));
    TS_TRY(const UniqueFd fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
    TS_CHECK_OK(write_all(fd.get(), file.text));
  }
  return {};
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

bool is_instrumented(const Manifest& manifest) {
  return std::any_of(manifest.settings.begin(), manifest.settings.end(), [](const Setting& one) {
    return one.name == "instrument" && one.value == "true";
  });
}

std::string no_instrumentation_note() {
  return "--instrument found nothing to observe: the job is not Python 3.7 or later, imports "
         "neither PyTorch, Keras nor JAX, starts Python with -I, -E or -S, or does not pass "
         "PYTHONPATH on (sudo, env -i, srun --export=NONE, a container)";
}

}  // namespace trainscope
