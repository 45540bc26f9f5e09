#include "collect/support/file_sample.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>

namespace trainscope {

namespace {

constexpr size_t kMaxOfFolder = 2000;

uint64_t hash_of(const std::string& path) {
  uint64_t hash = 14695981039346656037ULL;  // FNV-1a, then mixed: names often differ at their end
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  hash ^= hash >> 32;
  hash *= 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

struct Chosen {
  uint64_t hash;
  std::string path;
  bool operator<(const Chosen& other) const { return hash < other.hash; }
};

// The heap's top is the file that goes when a better one comes.
void choose(std::vector<Chosen>& heap, size_t most, const std::string& path) {
  const uint64_t hash = hash_of(path);
  if (heap.size() == most) {
    if (most == 0 || hash >= heap.front().hash) return;
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
  }
  heap.push_back({hash, path});
  std::push_heap(heap.begin(), heap.end());
}

// Some file systems always return DT_UNKNOWN.
unsigned char type_of(const dirent& entry, const std::string& path) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return DT_UNKNOWN;
  return S_ISREG(info.st_mode) ? DT_REG : S_ISDIR(info.st_mode) ? DT_DIR : DT_UNKNOWN;
}

}  // namespace

std::vector<std::string> sample_files(const std::string& path, size_t most, size_t look) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  if (S_ISREG(info.st_mode)) return {path};
  std::vector<Chosen> chosen;
  std::deque<std::string> folders = {path};
  for (size_t looked = 0; !folders.empty() && looked < look; folders.pop_front()) {
    const std::unique_ptr<DIR, CloseFolder> folder(::opendir(folders.front().c_str()));
    if (!folder) continue;
    for (size_t of_this = 0; of_this < kMaxOfFolder && looked < look;) {
      const dirent* entry = ::readdir(folder.get());
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      ++looked;
      ++of_this;
      const std::string full = folders.front() + "/" + name;
      const unsigned char type = type_of(*entry, full);
      if (type == DT_DIR) folders.push_back(full);
      if (type == DT_REG) choose(chosen, most, full);
    }
  }
  std::vector<std::string> files;
  for (Chosen& file : chosen) files.push_back(std::move(file.path));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace trainscope
