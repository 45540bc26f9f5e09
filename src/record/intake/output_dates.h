// Notes when the job's output was read, beside the part of output.log that is being written.
//
// Guarantees: at most one record per pause (output_pause_ns), written before the bytes that it is
// about, so that a recorder that is killed leaves no bytes with the time of earlier ones. Records
// that cannot be written are kept for later; of very many the reader learns that some are missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"

namespace trainscope {

class OutputDates {
 public:
  // `is_new`: nothing of this part is there yet; a file of that name is about an earlier one.
  void open(const std::string& path, bool is_new);
  // Bytes that were read at this time are about to be written at this offset of the part.
  void note(int64_t time_ns, size_t offset);

 private:
  bool open_file_again();
  void write();

  std::string path_;
  UniqueFd fd_;
  size_t records_ = 0;  // in the file
  bool is_emptied_ = false;
  std::optional<int64_t> last_ns_;
  std::string unwritten_;
};

}  // namespace trainscope
