// Cost of searching printed lines for steps: nanoseconds of CPU time per line, for each kind of
// line, and the same for splitting the same bytes into lines with memchr, alternately.
// Prints a line for each kind: its name, bytes per line, ns per line of both, lines not searched.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "record/intake/printed.h"

using namespace trainscope;

namespace {

struct LineKind {
  const char* name;
  std::string line;
};

// What a program logs as JSON: keys and numbers up to `bytes`, with the words that formats look
// for.
std::string json_line(size_t bytes) {
  std::string line = R"({"time": "2026-11-15T10:00:00Z", "global_step": 1200, "epoch": 3)";
  for (int i = 0; line.size() < bytes; ++i) {
    line += R"(, "layer_)" + std::to_string(i) + R"(/loss": 0.)" + std::to_string(1000 + i) +
            R"(, "train step )" + std::to_string(i) + R"(": [1.5, 2.25], "path": "/data/a|b")";
  }
  return line + "}";
}

std::vector<LineKind> kinds() {
  return {{"JSON of 4 KB", json_line(4000)},
          {"JSON of 400 bytes", json_line(350)},
          {"log line",
           "2026-11-15 10:00:00,123 INFO worker 3: batch 12 of 400 read from /data/a.tar in 12 ms"},
          {"warning",
           "W1115 10:00:00.123456 1234 cuda_dnn.cc:42] Loaded runtime library 8.9.4, autotuning"},
          {"Keras bar", "12/32 ━━━━━━━━━━━━━━━━ 1s 20ms/step - accuracy: 0.8712 - loss: 0.3412"},
          {"tqdm bar",
           "Epoch 2:  45%|████▌     | 45/100 [00:01<00:01, 44.2it/s, v_num=0, train_loss=0.31]"},
          {"step with a loss", "iter 250: loss 2.1453, time 120.3ms"}};
}

int64_t cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

size_t count_lines(std::string_view bytes) {
  size_t lines = 0;
  while (!bytes.empty()) {
    const void* end = std::memchr(bytes.data(), '\n', bytes.size());
    if (end == nullptr) break;
    bytes.remove_prefix(static_cast<size_t>(static_cast<const char*>(end) - bytes.data()) + 1);
    ++lines;
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  for (const LineKind& kind : kinds()) {
    SharedMemory memory = *SharedMemory::create(1 << 20);
    Ring ring(memory);
    ProgressSink sink(ring, memory);
    MatchingBudget budget(0);
    PrintedSteps printed(sink, "", budget);
    std::string chunk;
    while (chunk.size() + kind.line.size() < 65536) chunk += kind.line + "\n";
    const size_t lines = count_lines(chunk);
    std::vector<int64_t> split_ns, search_ns;
    for (int round = 0; round < rounds; ++round) {
      int64_t begin = cpu_ns();
      volatile size_t seen = 0;
      for (int i = 0; i < 50; ++i) seen = seen + count_lines(chunk);
      split_ns.push_back((cpu_ns() - begin) / 50);
      begin = cpu_ns();
      // An hour apart: no line is left out for the cost of those before.
      printed.take(chunk, (round + 1) * 3600 * kNsPerSecond);
      search_ns.push_back(cpu_ns() - begin);
      ring.release(ring.head());
    }
    std::sort(split_ns.begin(), split_ns.end());
    std::sort(search_ns.begin(), search_ns.end());
    const auto per_line = [&](const std::vector<int64_t>& all) {
      return static_cast<double>(all[all.size() / 2]) / static_cast<double>(lines);
    };
    std::printf("%s\t%zu\t%.1f\t%.1f\t%lld\n", kind.name, kind.line.size(), per_line(split_ns),
                per_line(search_ns), static_cast<long long>(printed.take_counts().skipped));
    memory.unmap();
  }
}
