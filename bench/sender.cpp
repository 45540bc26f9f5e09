// The job of bench/progress.py: computes, and reports its steps at a given rate.
//
//   sender RATE SECONDS     prints: units of work done, messages passed to the client
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "../clients/c/trainscope.h"

namespace {

// About a microsecond of arithmetic that the compiler cannot leave out.
uint64_t work(uint64_t value) {
  for (int i = 0; i < 500; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const double rate = std::atof(argv[1]), seconds = std::atof(argv[2]);
  const auto begin = std::chrono::steady_clock::now();
  uint64_t value = 1;
  long long units = 0, sent = 0;
  while (true) {
    value = work(value);
    ++units;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (elapsed.count() >= seconds) break;
    while (static_cast<double>(sent) < elapsed.count() * rate) ts_step_loss(++sent, 0.5);
  }
  std::printf("%lld %lld %llu\n", units, sent, static_cast<unsigned long long>(value & 1));
  return 0;
}
