// The part of CUDA's driver interface that is used, with our own declarations: NVIDIA's header is
// not free software.
//
// Types and names are the library's binary interface, which is stable across drivers.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace trainscope::cuda {

using Return = int;
inline constexpr Return kSuccess = 0;
using Device = int;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;  // null: the default one
using Address = unsigned long long;

#define TRAINSCOPE_CUDA_FUNCTIONS(F)                                                         \
  F(cuInit, init, (unsigned))                                                                \
  F(cuDeviceGetCount, count, (int*))                                                         \
  F(cuDeviceGet, device, (Device*, int))                                                     \
  F(cuDeviceGetName, name, (char*, int, Device))                                             \
  F(cuDevicePrimaryCtxRetain, retain, (Context*, Device))                                    \
  F(cuCtxSetCurrent, set_current, (Context))                                                 \
  F(cuCtxSynchronize, synchronize, ())                                                       \
  F(cuMemAlloc_v2, allocate, (Address*, size_t))                                             \
  F(cuMemFree_v2, release, (Address))                                                        \
  F(cuMemAllocHost_v2, allocate_pinned, (void**, size_t))                                    \
  F(cuMemFreeHost, release_pinned, (void*))                                                  \
  F(cuMemcpyHtoD_v2, copy_to_device, (Address, const void*, size_t))                         \
  F(cuMemcpyDtoH_v2, copy_to_host, (void*, Address, size_t))                                 \
  F(cuModuleLoadData, load_module, (Module*, const void*))                                   \
  F(cuModuleGetFunction, find_function, (Function*, Module, const char*))                    \
  F(cuLaunchKernel, launch,                                                                  \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
     void**, void**))                                                                        \
  F(cuGetErrorString, error_string, (Return, const char**))

struct Library {
#define TRAINSCOPE_CUDA_MEMBER(symbol, member, parameters) Return(*member) parameters = nullptr;
  TRAINSCOPE_CUDA_FUNCTIONS(TRAINSCOPE_CUDA_MEMBER)
#undef TRAINSCOPE_CUDA_MEMBER

  std::string error_text(Return result) const {
    const char* text = nullptr;
    if (error_string(result, &text) == kSuccess && text != nullptr) return text;
    return "error " + std::to_string(result);
  }
};

// Loads and starts libcuda.so.1, once per process.
Result<const Library*> library();

}  // namespace trainscope::cuda
