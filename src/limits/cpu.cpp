// cpu: how fast one processor computes, and all of them together.
//
// Measured: twelve independent chains of multiplications and additions of 64-bit numbers in
// registers, with the instructions that every processor of this architecture has (SSE2, NEON). The
// loop never changes, so numbers of different machines compare. Limits: a processor with wider
// vectors reaches a multiple of it in code that is compiled for them; the best round counts, which
// is the processor's highest clock.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "limits/limits.h"
#include "limits/support/team.h"

namespace trainscope::cpu_limits {

namespace {

using Pair = double __attribute__((vector_size(16)));

constexpr size_t kChains = 12;
constexpr int64_t kTurns = 2'000'000;  // 5 to 20 ms
constexpr double kOperations = 2.0 * 2 * kChains * kTurns;

using Chains = std::array<Pair, kChains>;

// Without a loop, so that every chain stays in a register.
template <size_t... I>
void advance(Chains& chains, const Pair& factor, const Pair& summand, std::index_sequence<I...>) {
  ((chains[I] = chains[I] * factor + summand), ...);
}

// Every chain approaches 1. The result is used, so the loop cannot be left out.
double compute() {
  Chains chains;
  for (size_t i = 0; i < kChains; ++i) {
    const double start = 1 + 0.01 * static_cast<double>(i);
    chains[i] = Pair{start, start};
  }
  const Pair factor = {0.999, 0.999}, summand = {0.001, 0.001};
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    advance(chains, factor, summand, std::make_index_sequence<kChains>());
  }
  double sum = 0;
  for (const Pair& chain : chains) sum += chain[0] + chain[1];
  return sum;
}

void add(const MeasureOptions& options, size_t threads, const char* name, MachineLimits& found) {
  std::vector<double> results(threads * 8);  // a cache line each
  const auto best =
      best_round(threads, options.each_ns, [&](size_t thread) { results[thread * 8] = compute(); });
  if (!best) {
    found.missing.push_back({name, best.error().message(), kMoreThreads});
    return;
  }
  if (!(results[0] > 0)) return;
  Limit limit;
  limit.name = name;
  limit.value = static_cast<double>(threads) * kOperations / best->seconds;
  limit.unit = "{flop}/s";
  limit.how =
      fmt::format("{} thread{}, multiply and add in 128-bit vectors of 64-bit numbers, best of {}",
                  threads, threads == 1 ? "" : "s", best->rounds);
  found.limits.push_back(std::move(limit));
}

Status measure(const MeasureOptions& options, MachineLimits& found) {
  if (options.progress) options.progress("processors");
  add(options, 1, "cpu.speed.one_core", found);
  add(options, usable_processors(), "cpu.speed.all_cores", found);
  return {};
}

}  // namespace

extern const LimitKind entry;
const LimitKind entry = {
    .name = "cpu",
    .summary = "speed of one processor and of all together",
    .measure = measure,
};

}  // namespace trainscope::cpu_limits
