#include "record/shared.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "base/fd.h"

namespace trainscope {

Result<SharedMemory> SharedMemory::create(size_t ring_bytes) {
  // A memfd and not an anonymous mapping, so that a debugger can find it; the mapping keeps it
  // alive.
  const UniqueFd fd(memfd_create("trainscope-ring", MFD_CLOEXEC));
  if (!fd) return Error::from_errno("cannot make shared memory", errno);
  const size_t bytes = kRingOffset + ring_bytes;
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return Error::from_errno("cannot size shared memory", errno);
  }
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
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

}  // namespace trainscope
