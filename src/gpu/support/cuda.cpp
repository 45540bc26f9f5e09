#include "gpu/support/cuda.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

namespace trainscope::cuda {

namespace {

Result<const Library*> load() {
  // The kernel for launches is compiled in a moment; nothing is left in the user's home.
  ::setenv("CUDA_CACHE_DISABLE", "1", 1);
  void* handle = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error("libcuda.so.1, NVIDIA's compute library, is not installed");
  static Library library;
  const char* lacking = nullptr;
#define TRAINSCOPE_CUDA_FIND(symbol, member, parameters)                                 \
  library.member = reinterpret_cast<decltype(library.member)>(::dlsym(handle, #symbol)); \
  if (library.member == nullptr) lacking = #symbol;
  TRAINSCOPE_CUDA_FUNCTIONS(TRAINSCOPE_CUDA_FIND)
#undef TRAINSCOPE_CUDA_FIND
  if (lacking != nullptr) {
    return Error(fmt::format("the NVIDIA driver is too old: it has no {}", lacking));
  }
  if (const Return result = library.init(0); result != kSuccess) {
    return Error("NVIDIA's driver reports: " + library.error_text(result));
  }
  return &library;
}

}  // namespace

Result<const Library*> library() {
  static const Result<const Library*> loaded = load();
  return loaded;
}

}  // namespace trainscope::cuda
