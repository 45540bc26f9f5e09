#include "data/loader.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "data/random_stream.h"
#include "monotonic_clock.h"

namespace trainscope::workload {

Loader::Loader(const Samples& samples, const LoaderOptions& options, ProgressPipe* pipe)
    : samples_(samples),
      options_(options),
      pipe_(pipe),
      batches_a_pass_((samples.count() + options.batch - 1) / options.batch),
      asked_(options.first),
      taken_(options.first) {
  for (unsigned i = 0; i < options.threads; ++i) threads_.emplace_back([this, i] { work(i); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

std::shared_ptr<const Loader::Order> Loader::order_of(std::uint64_t pass) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Order>& known = orders_[pass];
  if (!known) {
    Order order(samples_.count());
    std::iota(order.begin(), order.end(), 0U);
    RandomStream random(options_.seed, pass);
    for (std::size_t i = order.size(); options_.shuffle && i > 1; --i) {
      std::swap(order[i - 1], order[random.below(i)]);
    }
    known = std::make_shared<const Order>(std::move(order));
  }
  std::shared_ptr<const Order> result = known;
  // A slow thread may still be at the pass before.
  while (orders_.begin()->first + 1 < pass) orders_.erase(orders_.begin());
  return result;
}

Result<Batch> Loader::make(std::uint64_t number, const std::string& who) {
  const std::shared_ptr<const Order> order = order_of(number / batches_a_pass_);
  const std::size_t from = (number % batches_a_pass_) * options_.batch;
  const std::size_t to = std::min(from + options_.batch, order->size());
  const std::size_t bytes = samples_.shape().bytes();
  Batch batch;
  batch.pixels.resize((to - from) * bytes);
  StageTimes times;
  for (std::size_t i = from; i < to; ++i) {
    const std::span<std::uint8_t> pixels(batch.pixels.data() + (i - from) * bytes, bytes);
    TS_TRY(const std::uint32_t label, samples_.read((*order)[i], pixels, times));
    batch.labels.push_back(label);
  }
  if (pipe_ != nullptr && !who.empty()) {
    const double now_s = monotonic_s();
    // Pictures that lie in memory have no such stages.
    if (times.read_s > 0.0) pipe_->phase("read", times.read_s, now_s - times.decode_s, who);
    if (times.decode_s > 0.0) pipe_->phase("decode", times.decode_s, now_s, who);
  }
  return batch;
}

void Loader::work(unsigned index) {
  const std::string who = "loader" + std::to_string(index);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || taken_ < asked_ + options_.prefetch; });
    if (stop_ || taken_ >= options_.last) return;
    const std::uint64_t number = taken_++;
    lock.unlock();
    Result<Batch> batch = make(number, who);
    lock.lock();
    ready_.emplace(number, std::move(batch));
    changed_.notify_all();
  }
}

Result<Batch> Loader::next() {
  if (threads_.empty()) return make(asked_++, "");
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_.contains(asked_); });
  auto found = ready_.extract(asked_++);
  changed_.notify_all();
  return std::move(found.mapped());
}

}  // namespace trainscope::workload
