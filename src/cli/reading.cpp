#include "cli/reading.h"

#include <filesystem>

#include "cli/print.h"
#include "store/store.h"

namespace trainscope {

std::shared_ptr<ReadingFlags> add_reading_flags(CLI::App& app, const Settings& settings,
                                                bool json) {
  auto flags = std::make_shared<ReadingFlags>();
  flags->home = settings.home();
  app.add_option("--home", flags->home, "the folder that holds the runs")->type_name("DIR");
  if (json) app.add_flag("--json", flags->json, "one JSON document");
  return flags;
}

void add_run_argument(CLI::App& app, const std::shared_ptr<ReadingFlags>& flags) {
  app.add_option("run", flags->run,
                 "a run: its folder, id, name, the beginning of its id, latest, latest~2")
      ->type_name("RUN")
      ->required();
}

Result<std::unique_ptr<RunView>> open_named_run(const ReadingFlags& flags) {
  TS_TRY(const std::string path, find_run(flags.home, flags.run));
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error).lexically_normal();
  std::string text = error ? path : absolute.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return open_run(text);
}

void print_json(const nlohmann::json& document) {
  (void)write_stdout(json_text(document) + "\n");  // the command line finds what was not taken
}

}  // namespace trainscope
