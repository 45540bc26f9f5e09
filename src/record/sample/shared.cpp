#include "record/sample/shared.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/clock.h"
#include "base/fd.h"
#include "model/manifest.h"

namespace trainscope {

Result<SharedMemory> SharedMemory::create(size_t ring_bytes) {
  // A memfd and not an anonymous mapping, so that a debugger can find it; the mapping keeps it
  // alive.
  const UniqueFd fd(memfd_create("trainscope-ring", MFD_CLOEXEC));
  if (!fd) return Error::from_errno("cannot create shared memory", errno);
  const size_t bytes = kRingOffset + ring_bytes;
  const bool sized = ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0;
  // A limit on the size of files (ulimit -f) applies to a memfd, but must not prevent the start.
  if (!sized && errno != EFBIG) return Error::from_errno("cannot size shared memory", errno);
  const int kind = sized ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, sized ? fd.get() : -1, 0);
  if (at == MAP_FAILED) return Error::from_errno("cannot map shared memory", errno);
  SharedMemory memory;
  memory.shared_ = new (at) Shared;
  memory.shared_->ring_capacity = ring_bytes;
  return memory;
}

void SharedMemory::unmap() {
  ::munmap(shared_, kRingOffset + shared_->ring_capacity);
  shared_ = nullptr;
}

void leave_message(Shared& shared, std::string_view text) {
  shared.message_count |= 1;  // odd: being written, perhaps by a recorder that died
  char* message = shared.messages[shared.message_count / 2 % Shared::kMessages];
  const size_t n = std::min(text.size(), sizeof(shared.messages[0]) - 1);
  text.copy(message, n);
  message[n] = '\0';
  ++shared.message_count;
}

bool has_message(const Shared& shared, uint32_t shown) { return shared.message_count / 2 != shown; }

std::optional<std::string> take_message(Shared& shared, uint32_t& shown) {
  const uint32_t written = shared.message_count / 2;
  if (written == shown) return std::nullopt;
  // The place of the oldest is that of the one that is being written.
  if (written - shown >= Shared::kMessages) shown = written - (Shared::kMessages - 1);
  char text[sizeof shared.messages[0]];
  std::memcpy(text, shared.messages[shown % Shared::kMessages], sizeof text);
  // Written back unchanged, because no reading before a write can take place after it.
  if (shared.message_count.fetch_add(0) / 2 - shown >= Shared::kMessages)
    return std::nullopt;  // overwritten meanwhile: the next call has a later one
  ++shown;
  return text;
}

bool begin_time(Shared& shared) {
  int64_t none = 0;
  const bool begins = shared.zero_ns.compare_exchange_strong(none, monotonic_ns());
  const auto complete = [&](std::atomic<int64_t>& zero, int64_t (*clock)()) {
    int64_t unknown = 0;
    const int64_t passed = monotonic_ns() - shared.zero_ns;
    zero.compare_exchange_strong(unknown, clock() - passed);
  };
  complete(shared.zero_boottime_ns, boottime_ns);
  complete(shared.zero_realtime_ns, realtime_ns);  // the last one: has_time_begun()
  return begins;
}

bool has_time_begun(const Shared& shared) { return shared.zero_realtime_ns != 0; }

Manifest with_zero(Manifest manifest, const Shared& shared) {
  manifest.zero_monotonic_ns = shared.zero_ns;
  manifest.zero_boottime_ns = shared.zero_boottime_ns;
  manifest.zero_realtime_ns = shared.zero_realtime_ns;
  manifest.started = utc_text(manifest.zero_realtime_ns);
  return manifest;
}

}  // namespace trainscope
