// docs (hidden): writes docs/reference and the man pages.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "cli/cli.h"
#include "cli/man.h"
#include "cli/reference.h"

namespace trainscope::docs_command {

namespace {

struct DocsFlags {
  std::string reference_folder, man_folder;
};

// Does nothing without a folder.
Status write_pages(const std::map<std::string, std::string>& pages, const std::string& folder) {
  if (folder.empty()) return {};
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return Error::from_errno("cannot create " + folder, errno);
  }
  for (const auto& [name, text] : pages) {
    const std::string path = folder + "/" + name;
    TS_TRY(const UniqueFd fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
    const Status written = write_all(fd.get(), text);
    if (!written) return written.error().with_context(path);
  }
  return {};
}

Result<int> write_docs(const std::vector<CommandOptions>& commands, const DocsFlags& flags) {
  if (flags.reference_folder.empty() && flags.man_folder.empty()) {
    return Error("docs: --out DIR or --man DIR is required");
  }
  TS_CHECK_OK(write_pages(reference_pages(commands), flags.reference_folder));
  TS_CHECK_OK(write_pages(man_pages(commands), flags.man_folder));
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<DocsFlags>();
  options.add({.name = "--out",
               .value = "DIR",
               .help = "folder to write the reference pages to",
               .set = store_in(flags->reference_folder)});
  options.add({.name = "--man",
               .value = "DIR",
               .help = "folder to write the man pages to",
               .set = store_in(flags->man_folder)});
  return [settings, flags] { return write_docs(describe_commands(settings), *flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "docs",
    .summary = "write the reference and man pages",
    .examples = "trainscope docs --out docs/reference\ntrainscope docs --man man1",
    .hidden = true,
    .add = add,
};

}  // namespace trainscope::docs_command
