// A libcuda.so.1 for tests: one GPU whose memory is the host's, so that copies are copies.
//
// It checks its arguments as the real one does. The file `control` next to this library (as of
// fake_nvml.cpp) may have the words `cuda=none` (no GPU), `cuda=no-compiler` (no kernel can be
// loaded) and `cuda=full` (no memory on the GPU).
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

constexpr int kOk = 0, kInvalid = 1, kNoMemory = 2, kNotInitialized = 3, kNoContext = 201,
              kNoCompiler = 221;
bool is_started = false, has_context = false;
int anything;

bool is_set(const char* wanted) {
  Dl_info self{};
  ::dladdr(reinterpret_cast<void*>(&is_set), &self);
  const std::string library = self.dli_fname == nullptr ? "" : self.dli_fname;
  std::ifstream file(library.substr(0, library.rfind('/') + 1) + "control");
  for (std::string word; file >> word;) {
    if (word == std::string("cuda=") + wanted) return true;
  }
  return false;
}

}  // namespace

extern "C" {

int cuInit(unsigned flags) {
  is_started = flags == 0;
  return is_started ? kOk : kInvalid;
}
int cuDeviceGetCount(int* count) {
  *count = is_set("none") ? 0 : 1;
  return is_started ? kOk : kNotInitialized;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return index == 0 ? kOk : kInvalid;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake H1", static_cast<size_t>(size));
  return kOk;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &anything;
  return kOk;
}
int cuCtxSetCurrent(void* context) {
  has_context = context == &anything;
  return has_context ? kOk : kInvalid;
}
int cuCtxSynchronize() { return has_context ? kOk : kNoContext; }
int cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
  if (!has_context) return kNoContext;
  if (is_set("full")) return kNoMemory;
  *address = reinterpret_cast<unsigned long long>(std::malloc(bytes));
  return kOk;
}
int cuMemFree_v2(unsigned long long address) {
  std::free(reinterpret_cast<void*>(address));
  return kOk;
}
int cuMemAllocHost_v2(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return kOk;
}
int cuMemFreeHost(void* memory) {
  std::free(memory);
  return kOk;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kOk;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return kOk;
}
int cuModuleLoadData(void** module, const void* image) {
  if (is_set("no-compiler")) return kNoCompiler;
  const std::string text = static_cast<const char*>(image);
  const bool is_ours = text.starts_with(".version ") && text.find(".entry empty()") != text.npos;
  *module = &anything;
  return is_ours ? kOk : kInvalid;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = &anything;
  return std::strcmp(name, "empty") == 0 ? kOk : kInvalid;
}
int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, void*, void**, void**) {
  return function == &anything && has_context ? kOk : kInvalid;
}
int cuGetErrorString(int error, const char** text) {
  *text = error == kNoMemory     ? "out of memory"
          : error == kNoCompiler ? "PTX JIT compiler library not found"
                                 : "some error";
  return kOk;
}

}  // extern "C"
