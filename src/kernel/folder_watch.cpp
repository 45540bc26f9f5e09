#include "kernel/folder_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace trainscope {

namespace {

uint64_t hash_name(const char* name) {
  uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (; *name != '\0'; ++name)
    hash = (hash ^ static_cast<unsigned char>(*name)) * 1099511628211ULL;
  return hash;
}

}  // namespace

void FolderWatch::open(const std::string& path) {
  fd_.reset();
  if (auto fd = open_file(path, O_RDONLY | O_DIRECTORY)) fd_ = std::move(*fd);
  buffer_.resize(4096);
  known_ = fingerprint();
}

bool FolderWatch::changed() {
  const uint64_t now = fingerprint();
  if (now == known_) return false;
  known_ = now;
  return true;
}

// Not readdir: opendir and rewinddir allocate.
uint64_t FolderWatch::fingerprint() {
  if (!fd_ || ::lseek(fd_.get(), 0, SEEK_SET) != 0) return 0;
  uint64_t sum = 0;
  for (;;) {
    const ssize_t n = ::getdents64(fd_.get(), buffer_.data(), buffer_.size());
    if (n <= 0) return n < 0 ? known_ : sum;
    for (ssize_t at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer_.data() + at);
      sum += hash_name(entry->d_name);
      at += entry->d_reclen;
    }
  }
}

}  // namespace trainscope
