#include "data/loader.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>

#include "data/random_stream.h"
#include "trainscope.hpp"

namespace trainscope::workload {
namespace {

// Images in memory have no such stages.
void report_stages(const StageTimes& times) {
  const auto report = [](const char* stage, double seconds) {
    if (seconds > 0.0) trainscope::phase(stage, std::chrono::duration<double>(seconds));
  };
  report("read", times.read_s);
  report("decode", times.decode_s);
}

}  // namespace

Loader::Loader(const Samples& samples, const LoaderOptions& options)
    : samples_(samples),
      options_(options),
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

Result<Batch> Loader::make(std::uint64_t number, StageTimes& times) {
  const std::shared_ptr<const Order> order = order_of(number / batches_a_pass_);
  const std::size_t from = (number % batches_a_pass_) * options_.batch;
  const std::size_t to = std::min(from + options_.batch, order->size());
  const std::size_t bytes = samples_.shape().bytes();
  Batch batch;
  batch.pixels.resize((to - from) * bytes);
  for (std::size_t i = from; i < to; ++i) {
    const std::span<std::uint8_t> pixels(batch.pixels.data() + (i - from) * bytes, bytes);
    TS_TRY(const std::uint32_t label, samples_.read((*order)[i], pixels, times));
    batch.labels.push_back(label);
  }
  return batch;
}

void Loader::work(unsigned index) {
  trainscope::set_who("loader" + std::to_string(index));
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || taken_ < asked_ + options_.prefetch; });
    if (stop_ || taken_ >= options_.last) return;
    const std::uint64_t number = taken_++;
    lock.unlock();
    StageTimes times;
    Result<Batch> batch = make(number, times);
    if (batch) report_stages(times);
    lock.lock();
    ready_.emplace(number, std::move(batch));
    changed_.notify_all();
  }
}

Result<Batch> Loader::next() {
  if (threads_.empty()) {
    StageTimes part_of_the_wait;
    return make(asked_++, part_of_the_wait);
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_.contains(asked_); });
  auto found = ready_.extract(asked_++);
  changed_.notify_all();
  return std::move(found.mapped());
}

}  // namespace trainscope::workload
