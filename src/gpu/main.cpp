// trainscope-gpu: the process that queries GPU drivers. The recorder starts it and communicates
// with it over the socket on descriptor 3 (model/gpu_protocol.h); it has no other use.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "gpu/support/server.h"

int main(int argc, char** argv) {
  constexpr int kSocket = 3;
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kSocket, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    std::fputs(
        "trainscope-gpu is part of trainscope, which starts it to query GPU drivers: a call that "
        "hangs then affects nothing else.\nTry `trainscope doctor` to see what it finds.\n",
        stderr);
    return 2;
  }
  ::prctl(PR_SET_NAME, "trainscope-gpu");
  const bool only_job = argc > 2 && std::string_view(argv[2]) == "job";
  trainscope::GpuServer server(kSocket, argc > 1 ? argv[1] : "", only_job);
  // Threads may hang in a driver: no destructors.
  ::_exit(server.serve());
}
