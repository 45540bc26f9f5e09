// Texts that were computed recently, by key, up to a number of bytes. May be used from several
// threads.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace trainscope {

class RecentTexts {
 public:
  explicit RecentTexts(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  std::optional<std::string> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = texts_.find(key);
    if (found == texts_.end()) return std::nullopt;
    used_.splice(used_.end(), used_, found->second.second);
    return found->second.first;
  }

  // What does not fit is dropped, that which was not used for longest first.
  void keep(const std::string& key, std::string text) {
    const std::lock_guard lock(mutex_);
    if (texts_.contains(key)) return;
    bytes_ += text.size();
    texts_.emplace(key, std::pair(std::move(text), used_.insert(used_.end(), key)));
    while (bytes_ > limit_bytes_ && !used_.empty()) {
      const auto oldest = texts_.find(used_.front());
      bytes_ -= oldest->second.first.size();
      texts_.erase(oldest);
      used_.pop_front();
    }
  }

 private:
  const size_t limit_bytes_;
  std::mutex mutex_;
  size_t bytes_ = 0;
  std::list<std::string> used_;  // keys, the one that was used last at the end
  std::map<std::string, std::pair<std::string, std::list<std::string>::iterator>> texts_;
};

}  // namespace trainscope
