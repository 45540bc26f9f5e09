// Reports training progress to Trainscope, from C++: trainscope::step(n, {{"loss", loss}}).
//
// For: a job under `trainscope run`. A thin wrapper of trainscope.h, which must be next to it or
// found with -I: the same lines, the same guarantees (never blocks, never throws, no effect outside
// a run) and limits. C++17 or later. C and C++ files of one program share one pipe.
#ifndef TRAINSCOPE_HPP_
#define TRAINSCOPE_HPP_

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include "trainscope.h"

namespace trainscope {

// A number with its name: {"loss", loss}.
struct Number {
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Number(std::string_view its_name, T its_value) noexcept
      : name(its_name), value(static_cast<double>(its_value)) {}

  std::string_view name;
  double value;
};
using Numbers = std::initializer_list<Number>;

// The data set of a number; the default is train.
enum class Set { unspecified, train, validation, test, unsaid = unspecified };

inline constexpr long long kNext = -1;  // one more than the last; the recorder counts

namespace detail {

inline void put(ts_line& line, std::string_view text) noexcept {
  ts_put_(&line, text.data(), text.size());
}

inline void put_set(ts_line& line, Set set) noexcept {
  constexpr std::array<std::string_view, 4> kWords = {"", " set=train", " set=validation",
                                                      " set=test"};
  put(line, kWords[static_cast<std::size_t>(set)]);
}

inline void send(const char* word, long long number, Numbers numbers, Set set) noexcept {
  ts_line line;
  if (ts_start_(&line, word) == 0) return;
  ts_put_count_(&line, number);
  for (const Number& n : numbers) ts_put_number_(&line, n.name.data(), n.name.size(), n.value);
  put_set(line, set);
  ts_finish_(&line);
}

// A copy of a name, as long as one may be, with the zero that C wants.
class Name {
 public:
  explicit Name(std::string_view text) noexcept {
    text.copy(bytes_.data(), std::min(text.size(), bytes_.size() - 1));
  }
  const char* c_str() const noexcept { return bytes_.data(); }

 private:
  std::array<char, TS_NAME_BYTES + 1> bytes_{};
};

}  // namespace detail

inline bool active() noexcept { return ts_active() != 0; }

// Writes waiting lines: see ts_flush() in trainscope.h.
inline void flush() noexcept { ts_flush(); }

// The name of the calling thread in its own lines: see ts_set_who() in trainscope.h.
inline void set_who(std::string_view name) noexcept { ts_set_who(detail::Name(name).c_str()); }

inline void step(long long number = kNext, Numbers numbers = {},
                 Set set = Set::unspecified) noexcept {
  detail::send("step", number, numbers, set);
}
inline void step(Numbers numbers, Set set = Set::unspecified) noexcept {
  step(kNext, numbers, set);
}

inline void epoch(long long number = kNext, Numbers numbers = {},
                  Set set = Set::unspecified) noexcept {
  detail::send("epoch", number, numbers, set);
}

inline void begin(std::string_view phase) noexcept { ts_begin(detail::Name(phase).c_str()); }
inline void end(std::string_view phase) noexcept { ts_end(detail::Name(phase).c_str()); }

// A phase that ends now.
inline void phase(std::string_view name, std::chrono::duration<double> took) noexcept {
  ts_phase(detail::Name(name).c_str(), took.count());
}

inline void batch(long long items) noexcept { ts_batch(items); }

inline void scalar(std::string_view name, double value, Set set = Set::unspecified) noexcept {
  ts_line line;
  if (ts_start_(&line, "scalar ") == 0) return;
  ts_put_name_(&line, name.data(), name.size());
  detail::put(line, " ");
  ts_put_real_(&line, value);
  detail::put_set(line, set);
  ts_finish_(&line);
}

inline void mark(std::string_view text) noexcept {
  ts_line line;
  if (text.find_first_not_of(" \t\r\n") == text.npos || ts_start_(&line, "mark ") == 0) return;
  detail::put(line, text);
  ts_finish_text_(&line);
}

// A phase for as long as this lives: `trainscope::Phase forward("forward");`.
class [[nodiscard]] Phase {
 public:
  explicit Phase(std::string_view name) noexcept : name_(name) { ts_begin(name_.c_str()); }
  ~Phase() { ts_end(name_.c_str()); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  detail::Name name_;
};

// Returns the result of `work` and sends its duration as a phase: auto batch = timed("input", [&] {
// return next(); }); If it throws, nothing is sent.
template <typename Work>
decltype(auto) timed(std::string_view name, Work&& work) {
  const auto began = std::chrono::steady_clock::now();
  const auto report = [&] { phase(name, std::chrono::steady_clock::now() - began); };
  if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
    std::forward<Work>(work)();
    report();
  } else {
    decltype(auto) made = std::forward<Work>(work)();
    report();
    return made;
  }
}

}  // namespace trainscope

#endif  // TRAINSCOPE_HPP_
