// A run that a RUN argument means, opened.
#include <filesystem>

#include "model/model.h"
#include "store/store.h"

namespace trainscope {

std::string absolute_run_path(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error).lexically_normal();
  std::string text = error ? path : absolute.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

Result<std::unique_ptr<RunView>> open_found_run(const std::string& path) {
  return open_run(absolute_run_path(path));
}

}  // namespace trainscope
