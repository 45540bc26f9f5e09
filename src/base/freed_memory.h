// What the allocator keeps of freed memory.
#pragma once

#include <malloc.h>

namespace trainscope {

// By default every thread has its own arena, which keeps what another one freed; and once a large
// block was freed, blocks of this size come from the heap, which keeps twice as much of what is
// freed later. For a process that lives long, before its threads begin.
inline void keep_little_freed_memory(int arenas, int kept_bytes) {
  ::mallopt(M_ARENA_MAX, arenas);
  ::mallopt(M_MMAP_THRESHOLD, kept_bytes);
  ::mallopt(M_TRIM_THRESHOLD, kept_bytes);
}

// Freed pages between others are returned to the kernel too. Takes a millisecond for tens of
// megabytes.
inline void return_freed_memory() { ::malloc_trim(0); }

}  // namespace trainscope
