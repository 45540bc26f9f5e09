#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "format/format.h"
#include "store/store.h"

namespace trainscope {

Result<WrittenRun> write_run(const std::string& home, const RunData& run) {
  // The empty folder reserves the id; it is not a run until the full folder replaces it.
  TS_TRY(const NewRun made, create_run(home));
  const std::string folder = home + "/.import-" + made.id;
  Result<WrittenRun> written = write_run_folder(folder, made.id, run);
  if (written && ::rename(folder.c_str(), made.path.c_str()) != 0) {
    written = Error::from_errno("cannot rename " + folder, errno);
  }
  if (written) {
    written->path = made.path;
    return written;
  }
  (void)remove_run(folder);
  ::rmdir(made.path.c_str());
  return written;
}

}  // namespace trainscope
