// For tests: only so many descriptors can be opened while this object exists; those that are open
// stay.
//
// Limits: descriptors that are closed meanwhile count as well if their number is small.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "base/check.h"
#include "base/fd.h"

namespace trainscope {

class FewFreeDescriptors {
 public:
  explicit FewFreeDescriptors(size_t free) {
    // The kernel gives out the lowest numbers that are free.
    std::vector<UniqueFd> opened;
    for (size_t i = 0; i < free; ++i) {
      opened.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      CHECK(opened.back());
    }
    CHECK(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlim_t most = opened.empty() ? 0 : static_cast<rlim_t>(opened.back().get()) + 1;
    const rlimit few{most, before_.rlim_max};
    CHECK(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  FewFreeDescriptors(const FewFreeDescriptors&) = delete;
  FewFreeDescriptors& operator=(const FewFreeDescriptors&) = delete;
  ~FewFreeDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

struct NoFreeDescriptors : FewFreeDescriptors {
  NoFreeDescriptors() : FewFreeDescriptors(0) {}
};

}  // namespace trainscope
