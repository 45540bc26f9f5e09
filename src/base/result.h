// Result<T>: errors that the environment can cause, as values.
//
// Guarantees: an Error has a sentence for a person and the chain of operations, outermost first; it
// is never silently dropped ([[nodiscard]]). Internal errors use CHECK instead. Limits: no
// exceptions cross it; a third-party exception is turned into an Error where it is thrown.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace trainscope {

class [[nodiscard]] Error {
 public:
  explicit Error(std::string message, int error_number = 0)
      : message_(std::move(message)), errno_(error_number) {}

  // "cannot open /x: No such file or directory", remembering the errno.
  static Error from_errno(const std::string& what, int error_number) {
    return Error(what + ": " + std::strerror(error_number), error_number);
  }

  // Prefixes the operation: "reading run a1: " + message.
  Error with_context(const std::string& doing) const {
    return Error(doing + ": " + message_, errno_);
  }

  const std::string& message() const { return message_; }
  int error_number() const { return errno_; }

 private:
  std::string message_;
  int errno_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  explicit operator bool() const { return state_.index() == 0; }
  T& value() & {
    CHECK(state_.index() == 0);
    return std::get<0>(state_);
  }
  const T& value() const& {
    CHECK(state_.index() == 0);
    return std::get<0>(state_);
  }
  T&& value() && {
    CHECK(state_.index() == 0);
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const {
    CHECK(state_.index() == 1);
    return std::get<1>(state_);
  }
  Result with_context(const std::string& doing) && {
    if (state_.index() == 0) return std::move(*this);
    return Result(error().with_context(doing));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  explicit operator bool() const { return !error_.has_value(); }
  const Error& error() const {
    CHECK(error_.has_value());
    return *error_;
  }
  Result with_context(const std::string& doing) && {
    if (!error_) return {};
    return Result(error_->with_context(doing));
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace trainscope

#define TS_JOIN_INNER(a, b) a##b
#define TS_JOIN(a, b) TS_JOIN_INNER(a, b)

// TS_TRY(auto x, f()): x is f()'s value, or the enclosing function returns f()'s error.
#define TS_TRY(target, expression)                   \
  auto TS_JOIN(ts_result_, __LINE__) = (expression); \
  if (!TS_JOIN(ts_result_, __LINE__)) {              \
    return TS_JOIN(ts_result_, __LINE__).error();    \
  }                                                  \
  target = std::move(TS_JOIN(ts_result_, __LINE__)).value()

// TS_CHECK_OK(f()): continues, or the enclosing function returns f()'s error.
#define TS_CHECK_OK(expression)               \
  do {                                        \
    auto ts_status = (expression);            \
    if (!ts_status) return ts_status.error(); \
  } while (false)
