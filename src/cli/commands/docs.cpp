// docs (hidden): writes docs/reference.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "cli/cli.h"
#include "cli/reference.h"

namespace trainscope {

namespace {

Result<int> write_pages(const std::vector<CommandOptions>& commands, const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return Error::from_errno("cannot make " + folder, errno);
  }
  for (const auto& [name, text] : reference_pages(commands)) {
    const std::string path = folder + "/" + name;
    TS_TRY(const UniqueFd fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
    const Status written = write_all(fd.get(), text);
    if (!written) return written.error().with_context(path);
  }
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto folder = std::make_shared<std::string>();
  options.add({.name = "--out",
               .value = "DIR",
               .help = "folder to write to",
               .is_required = true,
               .set = store_in(*folder)});
  return [settings, folder] { return write_pages(describe_commands(settings), *folder); };
}

}  // namespace

extern const Command docs_command;
const Command docs_command = {
    .name = "docs",
    .summary = "write the reference pages",
    .examples = "trainscope docs --out docs/reference",
    .hidden = true,
    .add = add,
};

}  // namespace trainscope
