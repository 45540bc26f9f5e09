// Gathers samples into batches, in a shuffled order, ahead of time where threads are given.
//
// Guarantees: batches come in the same order and with the same contents whatever the number of
// threads; every image is in exactly one batch of a pass; pass p of a seed is the same in every
// run, so that reading can begin in the middle. Each loading thread reports to the recorder how
// long its batch took: phases read and decode, who=loaderN. Limits: at most `prefetch` batches
// wait; the last batch of a pass may be smaller.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "data/samples.h"

namespace trainscope::workload {

struct LoaderOptions {
  std::size_t batch = 64;
  unsigned threads = 0;  // 0: the caller of next() prepares the batch
  std::size_t prefetch = 4;
  bool shuffle = true;
  std::uint64_t seed = 1;
  std::uint64_t first = 0;                 // number of the first batch, over all passes
  std::uint64_t last = ~std::uint64_t{0};  // none from here on
};

struct Batch {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;

  std::size_t count() const { return labels.size(); }
};

class Loader {
 public:
  // `samples` must live as long.
  Loader(const Samples& samples, const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  std::uint64_t batches_a_pass() const { return batches_a_pass_; }
  // Waits where it is not ready yet. Must not be called beyond `last`.
  Result<Batch> next();

 private:
  using Order = std::vector<std::uint32_t>;

  std::shared_ptr<const Order> order_of(std::uint64_t pass);
  Result<Batch> make(std::uint64_t number, StageTimes& times);
  void work(unsigned index);

  const Samples& samples_;
  LoaderOptions options_;
  std::uint64_t batches_a_pass_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::uint64_t asked_ = 0;  // the batch that next() gives
  std::uint64_t taken_ = 0;  // the batch that the next free thread makes
  std::map<std::uint64_t, Result<Batch>> ready_;
  std::map<std::uint64_t, std::shared_ptr<const Order>> orders_;
  std::vector<std::jthread> threads_;
};

}  // namespace trainscope::workload
