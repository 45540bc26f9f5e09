#include "kernel/mounts.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "kernel/proc_file.h"

namespace trainscope {

namespace {

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes blanks, tabs, newlines and backslashes as \040 and so on.
std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
bool parse_mount(std::string_view line, Mount& mount) {
  Scanner scan(line);
  scan.skip_word();
  scan.skip_word();
  mount.device = scan.word();
  mount.root = unescape(scan.word());
  mount.point = unescape(scan.word());
  scan.skip_word();
  for (;;) {  // any number of optional fields
    const std::string_view word = scan.word();
    if (word.empty()) return false;
    if (word == "-") break;
  }
  mount.type = scan.word();
  mount.source = unescape(scan.word());
  mount.options = scan.word();
  return !mount.type.empty() && mount.root.starts_with('/') && mount.point.starts_with('/');
}

}  // namespace

std::vector<Mount> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  Scanner scan(text);
  while (!scan.done()) {
    Mount mount;
    if (parse_mount(scan.line(), mount)) mounts.push_back(std::move(mount));
  }
  return mounts;
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    if (!is_below(path, mount.point)) continue;
    if (best == nullptr || mount.point.size() >= best->point.size()) best = &mount;
  }
  return best;
}

bool may_hang(const Mount& mount) {
  static constexpr std::array<std::string_view, 19> kTypes = {
      "nfs",       "nfs4",     "lustre",  "cifs",   "smb3", "smbfs", "9p",
      "beegfs",    "gpfs",     "ceph",    "autofs", "afs",  "coda",  "pvfs2",
      "glusterfs", "virtiofs", "fuseblk", "wekafs", "fhgfs"};
  if (mount.type == "fuse" || mount.type.starts_with("fuse.")) return true;
  return std::find(kTypes.begin(), kTypes.end(), mount.type) != kTypes.end();
}

bool leads_to_hanging_mount(const std::vector<Mount>& mounts, const std::string& root,
                            const std::string& path) {
  constexpr int kMaxLinks = 40;  // as the kernel has it
  std::string rest = path, walked;
  for (int links = 0; !rest.empty();) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string part = rest.substr(0, slash);
    rest.erase(0, std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      walked.resize(walked.empty() ? 0 : walked.rfind('/'));
      continue;
    }
    walked += "/" + part;
    const Mount* mount = mount_of(mounts, walked);
    if (mount != nullptr && may_hang(*mount)) return true;
    std::array<char, 4096> target;
    const ssize_t n = ::readlink((root + walked).c_str(), target.data(), target.size());
    if (n <= 0) continue;
    if (++links > kMaxLinks) return false;
    const std::string link(target.data(), static_cast<size_t>(n));
    walked = link.starts_with('/') ? "" : walked.substr(0, walked.rfind('/'));
    rest = link + "/" + rest;
  }
  return false;
}

}  // namespace trainscope
