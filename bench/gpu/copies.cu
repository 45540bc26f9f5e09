// Copies between host and GPU by CUDA's runtime, timed by CUDA's own events: what its bandwidth test prints.
//
//   copies SECONDS    four lines: name and bytes per second, the median of blocks of 256 MiB
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

static void check(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "copies: %s\n", cudaGetErrorString(result));
  std::exit(1);
}

// The GPU's clock for copies that the GPU does alone; the time of the calls where the host has a part in it.
static void measure(const char* name, double seconds, size_t bytes, const std::function<void()>& copy) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> times;
  copy();
  check(cudaDeviceSynchronize());
  for (double spent = 0; spent < seconds || times.size() < 5;) {
    check(cudaEventRecord(begin));
    copy();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
    spent += ms / 1000;
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  std::printf("%s %.0f\n", name, static_cast<double>(bytes) / (times[times.size() / 2] / 1000));
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
  const size_t bytes = size_t{256} << 20;
  char *there = nullptr, *pinned = nullptr;
  check(cudaMalloc(&there, bytes));
  check(cudaMallocHost(&pinned, bytes));
  std::vector<char> pageable(bytes, 1);
  std::memset(pinned, 1, bytes);
  const auto to_device = cudaMemcpyHostToDevice, to_host = cudaMemcpyDeviceToHost;
  measure("gpu.copy.host_to_device", seconds, bytes,
          [&] { check(cudaMemcpyAsync(there, pinned, bytes, to_device)); });
  measure("gpu.copy.device_to_host", seconds, bytes,
          [&] { check(cudaMemcpyAsync(pinned, there, bytes, to_host)); });
  measure("gpu.copy.host_to_device_pageable", seconds, bytes,
          [&] { check(cudaMemcpy(there, pageable.data(), bytes, to_device)); });
  measure("gpu.copy.device_to_host_pageable", seconds, bytes,
          [&] { check(cudaMemcpy(pageable.data(), there, bytes, to_host)); });
  return 0;
}
