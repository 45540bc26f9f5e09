#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/clock.h"
#include "store/home/make_folders.h"
#include "store/read/run_id.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr int64_t kEpochMs = 1'577'836'800'000;  // 2020-01-01T00:00:00Z
constexpr int kAttempts = 1000;
constexpr size_t kTimeCharacters = 8;

uint32_t random_bits() {
  uint32_t bits = 0;
  // Early in boot it would block for entropy; the clock's low bits will do then.
  if (::getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
    bits = static_cast<uint32_t>(monotonic_ns() ^ ::getpid());
  }
  return bits;
}

Error advised(const Error& error) {
  return Error(error.message() + "; set TRAINSCOPE_HOME to a folder where runs can be stored",
               error.error_number());
}

}  // namespace

Status make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // An existing parent without write permission (/home) gives EACCES or EROFS, not EEXIST.
      const int error = errno;
      struct stat info {};
      if (::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        return Error::from_errno("cannot create the folder " + part, error);
      }
    }
    if (at == std::string::npos) break;
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return Error::from_errno("cannot use " + path, errno);
  if (!S_ISDIR(info.st_mode)) return Error(path + " is not a folder");
  return {};
}

std::string make_run_id(int64_t realtime_ns, uint32_t random_bits) {
  const auto ms = static_cast<uint64_t>(std::max<int64_t>(0, realtime_ns / 1'000'000 - kEpochMs));
  std::string id;
  for (int shift = 35; shift >= 0; shift -= 5) id += kAlphabet[(ms >> shift) & 31U];
  id += kAlphabet[(random_bits >> 5U) & 31U];
  id += kAlphabet[random_bits & 31U];
  return id;
}

bool is_run_id(std::string_view text) {
  return text.size() == kRunIdLength && text.find_first_not_of(kAlphabet) == std::string_view::npos;
}

std::optional<int64_t> run_id_realtime_ns(std::string_view id) {
  if (!is_run_id(id)) return std::nullopt;
  int64_t ms = 0;
  for (const char c : id.substr(0, kTimeCharacters)) {
    ms = ms * 32 + static_cast<int64_t>(kAlphabet.find(c));
  }
  return (ms + kEpochMs) * 1'000'000;
}

Result<NewRun> create_run(const std::string& home) {
  if (home.empty()) return Error("no folder for runs: set TRAINSCOPE_HOME or HOME");
  if (Status made = make_folders(home); !made) return advised(made.error());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string id = make_run_id(realtime_ns(), random_bits());
    const std::string path = home + "/" + id;
    if (::mkdir(path.c_str(), 0700) == 0) return NewRun{id, path};
    if (errno != EEXIST) {
      return advised(Error::from_errno("cannot create the folder " + path, errno));
    }
    const timespec wait = to_timespec(1'000'000);  // another millisecond is another id
    ::nanosleep(&wait, nullptr);
  }
  return Error(fmt::format("no free run id in {} after {} attempts", home, kAttempts));
}

}  // namespace trainscope
