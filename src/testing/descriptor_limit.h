// For tests: no descriptor can be opened while this object exists; those that are open stay.
#pragma once

#include <sys/resource.h>

#include "base/check.h"

namespace trainscope {

class NoFreeDescriptors {
 public:
  NoFreeDescriptors() {
    CHECK(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit none{0, before_.rlim_max};
    CHECK(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  NoFreeDescriptors(const NoFreeDescriptors&) = delete;
  NoFreeDescriptors& operator=(const NoFreeDescriptors&) = delete;
  ~NoFreeDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace trainscope
