#include "cli/rasterize.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/fd.h"
#include "base/interrupted.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr const char* kProgram = "rsvg-convert";
constexpr int64_t kRasterLimitNs = 60 * kNsPerSecond;
constexpr size_t kMostPngBytes = size_t{64} << 20;

// Only folders with an absolute path: the working directory may be anybody's.
Result<std::string> find_rasterizer() {
  const char* list = std::getenv("PATH");
  for (const std::string_view place : split(list == nullptr ? "" : list, ':')) {
    const std::string path = std::string(place) + "/" + kProgram;
    if (place.starts_with('/') && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return Error(
      fmt::format("cannot make a PNG: {} is not installed; try: apt-get install "
                  "librsvg2-bin, or use --svg",
                  kProgram));
}

Result<UniqueFd> memory_file(const char* name) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd) return Error::from_errno("cannot make a file in memory", errno);
  return fd;
}

[[noreturn]] void execute(const std::string& program, int in, int out) {
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  const std::array<const char*, 6> words = {program.c_str(), "--format=png", "--dpi-x=300",
                                            "--dpi-y=300",   nullptr,        nullptr};
  ::execv(program.c_str(), const_cast<char* const*>(words.data()));
  ::_exit(127);
}

// Waits for a child; it is killed if it takes too long.
Status wait_for(pid_t child) {
  const int64_t until = monotonic_ns() + kRasterLimitNs;
  int status = 0;
  while (retry_interrupted([&] { return ::waitpid(child, &status, WNOHANG); }) == 0) {
    if (monotonic_ns() > until) {
      ::kill(child, SIGKILL);
      (void)::waitpid(child, &status, 0);
      return Error(fmt::format("cannot make a PNG: {} took too long", kProgram));
    }
    ::usleep(2000);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error(fmt::format("cannot make a PNG: {} failed; use --svg", kProgram));
}

}  // namespace

Result<std::string> svg_to_png(const std::string& svg) {
  TS_TRY(const std::string program, find_rasterizer());
  TS_TRY(const UniqueFd in, memory_file("svg"));
  TS_TRY(const UniqueFd out, memory_file("png"));
  TS_CHECK_OK(write_all(in.get(), svg));
  ::lseek(in.get(), 0, SEEK_SET);
  const pid_t child = ::fork();
  if (child < 0) return Error::from_errno("cannot start " + program, errno);
  if (child == 0) execute(program, in.get(), out.get());
  TS_CHECK_OK(wait_for(child));
  TS_TRY(const size_t size, file_size(out, "png"));
  std::string png;
  if (size > kMostPngBytes) return Error("cannot make a PNG: it is too large");
  TS_CHECK_OK(read_part(out, "png", 0, size, png));
  return png;
}

}  // namespace trainscope
