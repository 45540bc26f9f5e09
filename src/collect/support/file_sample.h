// A sample of the files of a dataset, which may have millions.
#pragma once

#include <string>
#include <vector>

namespace trainscope {

// At most `most` regular files of a file or folder, chosen by a hash of their names, so that all
// have the same probability and the result is the same each time. At most `look` names are
// examined, and of each folder no more than its share, so that the walk ends soon. Links are not
// followed.
std::vector<std::string> sample_files(const std::string& path, size_t most, size_t look);

}  // namespace trainscope
