// What a call returns when the world may make it fail: a value, or an error with its sentence.
//
// Guarantees: never both; reading the one that is not there stops the program (std::get throws).
// Limits: the workload builds alone, so this is its own and smaller than the recorder's.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace trainscope::workload {

enum class Fault {
  kBadInput,  // arguments or files of the user; nothing was changed
  kFailed,    // it broke while running: out of memory, disk full
};

struct Error {
  Fault fault = Fault::kFailed;
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace trainscope::workload
