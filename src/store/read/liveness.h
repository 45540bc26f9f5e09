// liveness() as seen from another host or boot, for tests.
#pragma once

#include <string>

#include "store/store.h"

namespace trainscope {

// The host from which a run is examined.
struct Observer {
  std::string host_name, boot_id;
  static Observer ours();
};

Liveness liveness(const std::string& run_path, const Manifest& manifest, const Observer& observer);

}  // namespace trainscope
