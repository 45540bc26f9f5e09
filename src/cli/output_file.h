// A file that a command writes: -o FILE.
//
// Guarantees: an existing file is replaced only with --force, and then by rename, so that it is the
// old one or the new one; a file that could not be written completely is removed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainscope {

using OutputSink = std::function<Status(std::string_view)>;

// EEXIST: cannot write PATH, it already exists; use --force.
Error output_exists(const std::string& path);
// `write` gets the sink that takes the bytes of the file.
Status write_output_file(const std::string& path, bool force,
                         const std::function<Status(const OutputSink&)>& write);

}  // namespace trainscope
