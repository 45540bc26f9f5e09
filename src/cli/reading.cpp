#include "cli/reading.h"

#include "base/json.h"
#include "cli/print.h"
#include "cli/setting_table.h"
#include "store/store.h"

namespace trainscope {

std::shared_ptr<ReadingFlags> add_reading_flags(Options& options, const Settings& settings,
                                                bool json) {
  auto flags = std::make_shared<ReadingFlags>();
  flags->home = settings.home();
  options.add(setting_option(*find_setting("home"), store_in(flags->home)));
  if (json) {
    options.add({.name = "--json", .value = "", .help = kJsonHelp, .set = store_in(flags->json)});
  }
  return flags;
}

void add_run_argument(Options& options, const std::shared_ptr<ReadingFlags>& flags,
                      const char* help) {
  options.add({.name = "RUN", .value = "RUN", .help = help, .set = store_in(flags->run)});
}

Result<std::string> find_named_run(const ReadingFlags& flags) {
  TS_TRY(const std::string path, find_run(flags.home, flags.run));
  return absolute_run_path(path);
}

Result<std::unique_ptr<RunView>> open_named_run(const ReadingFlags& flags) {
  TS_TRY(const std::string path, find_named_run(flags));
  return open_run(path);
}

void print_json(const Json& document) {
  (void)write_stdout(json_text(document) +
                     "\n");  // the command line checks that the output was written
}

void print_json_line(const Json& document) { (void)write_stdout(json_line_text(document) + "\n"); }

}  // namespace trainscope
