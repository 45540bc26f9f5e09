#include "store/read/kept_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "format/format.h"

namespace trainscope {

namespace {

constexpr size_t kMaxIndexBytes = size_t{4} << 20;
constexpr size_t kTypeBytes = 512;

struct Signature {
  std::string_view bytes, type;
};
constexpr Signature kSignatures[] = {{"\x89PNG\r\n\x1a\n", "image/png"},
                                     {"\xff\xd8\xff", "image/jpeg"},
                                     {"GIF87a", "image/gif"},
                                     {"GIF89a", "image/gif"}};

std::string type_of(const std::string& run_path, size_t index) {
  const auto file = open_stored_file(run_path, index);
  std::string first;
  if (file) (void)read_part(*file, "", 0, kTypeBytes, first);
  return std::string(file_type(first));
}

}  // namespace

std::string_view file_type(std::string_view first_bytes) {
  for (const Signature& one : kSignatures) {
    if (first_bytes.starts_with(one.bytes)) return one.type;
  }
  if (first_bytes.starts_with("RIFF") && first_bytes.substr(0, 12).ends_with("WEBP")) {
    return "image/webp";
  }
  const bool is_text = std::all_of(first_bytes.begin(), first_bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t' || c == '\r';
  });
  return is_text ? "text/plain" : "application/octet-stream";
}

Result<UniqueFd> open_stored_file(const std::string& run_path, size_t index) {
  const std::string folder = fmt::format("{}/{}", run_path, kKeptFolder);
  TS_TRY(const UniqueFd kept, open_file(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const std::string name = kept_file_name(index);
  UniqueFd file(::openat(kept.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return Error::from_errno("cannot open " + folder + "/" + name, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Error(folder + "/" + name + " is not a regular file");
  }
  return file;
}

StoredFiles stored_files(const std::string& run_path, int64_t zero_realtime_ns) {
  StoredFiles stored;
  const auto text =
      read_regular_file(fmt::format("{}/{}/{}", run_path, kKeptFolder, kKeptIndex), kMaxIndexBytes);
  if (!text) return stored;
  const auto kept = kept_files_from_json(*text);
  if (!kept) return stored;
  stored.left_out = kept->left_out_count;
  for (size_t i = 0; i < kept->files.size(); ++i) {
    const KeptFile& file = kept->files[i];
    const double time_s =
        (static_cast<double>(file.modified_ns) - static_cast<double>(zero_realtime_ns)) / 1e9;
    stored.files.push_back({file.path, file.bytes, time_s, type_of(run_path, i)});
  }
  return stored;
}

}  // namespace trainscope
