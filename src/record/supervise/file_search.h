// Files that a pattern of `run --keep` means: 'out/*.png', '**/*.jpg', '/scratch/x/plot-?.svg'.
//
// Guarantees: no symbolic link is followed, except in the part of an absolute pattern before its
// first wildcard, which the user named; only regular files are found; the search ends, however many
// names there are. Limits: hidden files and folders match only where the pattern has the dot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace trainscope {

inline constexpr size_t kMaxSearchedNames = 100'000;
inline constexpr int kMaxSearchDepth = 16;

// A folder, which device and inode identify.
struct FolderIdentity {
  uint64_t device = 0, inode = 0;
  bool operator==(const FolderIdentity&) const = default;
};
FolderIdentity folder_identity(int fd);

// A pattern whose leading part without wildcards is a folder.
struct FilePattern {
  std::string folder;              // that the search begins in
  std::string shown;               // how its files are named to people: "/scratch/x/" or ""
  std::vector<std::string> parts;  // of the names below it; ** is any number of folders
};
FilePattern parse_file_pattern(std::string_view pattern, const std::string& working_directory);

struct FileSearch {
  std::set<std::string> files;  // below FilePattern::folder
  std::set<std::string> links;  // that match, and are not followed
  bool is_complete = true;      // false: there are too many names or folders within folders
};
// An Error if the folder cannot be opened. `skipped` and what is below it are not searched.
Result<FileSearch> find_files(const FilePattern& pattern, const FolderIdentity& skipped,
                              size_t most_names = kMaxSearchedNames);

// Opens a regular file that find_files gave, through folders only.
Result<UniqueFd> open_found_file(int folder, const std::string& path);

}  // namespace trainscope
