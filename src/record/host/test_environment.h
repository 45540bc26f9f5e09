// For tests: sets variables of this process and restores them in the destructor.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace trainscope {

class TestEnvironment {
 public:
  TestEnvironment() = default;
  TestEnvironment(const TestEnvironment&) = delete;
  TestEnvironment& operator=(const TestEnvironment&) = delete;
  ~TestEnvironment() {
    for (const auto& [name, value] : before_) put(name, value ? value->c_str() : nullptr);
  }
  // nullptr: unset.
  void set(const std::string& name, const char* value) {
    const char* old = std::getenv(name.c_str());
    before_.try_emplace(name, old ? std::optional<std::string>(old) : std::nullopt);
    put(name, value);
  }

 private:
  static void put(const std::string& name, const char* value) {
    value ? ::setenv(name.c_str(), value, 1) : ::unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace trainscope
