// Requests for the same run take turns, so that a run whose disk hangs holds few threads however
// often it is asked for. For one thread.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace trainscope {

// Requests for one run, or for one page of all runs.
struct Turns {
  size_t waiting = 0, reading = 0;
};

class TurnsByName {
 public:
  // The same for all who ask while somebody holds it.
  std::shared_ptr<Turns> of(const std::string& name) {
    std::erase_if(turns_, [](const auto& each) { return each.second.expired(); });
    std::shared_ptr<Turns> turns = turns_[name].lock();
    if (turns == nullptr) turns_[name] = turns = std::make_shared<Turns>();
    return turns;
  }

 private:
  std::map<std::string, std::weak_ptr<Turns>> turns_;
};

}  // namespace trainscope
