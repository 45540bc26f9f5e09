// The environment variables of a process, as data.
//
// Guarantees: those of an attached job never become ours: as root we would load that user's
// libraries, and start our programs with them. Limits: a process whose variables are not readable
// has none.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace trainscope {

class Variables {
 public:
  Variables() = default;
  static Variables ours();
  // As in /proc: those that the process was started with.
  static Variables of(pid_t pid);

  bool has(std::string_view name) const { return all_.contains(name); }
  std::optional<std::string> get(std::string_view name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::map<std::string, std::string, std::less<>>& all() const { return all_; }

 private:
  void add(std::string_view entry);

  std::map<std::string, std::string, std::less<>> all_;
};

}  // namespace trainscope
