// trainscope top: a run on the whole terminal, live or recorded.
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "cli/cli.h"
#include "cli/patience.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/top_source.h"
#include "tui/tui.h"

namespace trainscope::top_command {

namespace {

struct TopFlags {
  std::string theme = "auto";
};

Theme theme_of(const std::string& name) {
  if (name == "mono") return Theme::mono;
  return name == "ansi" ? Theme::ansi : Theme::automatic;
}

constexpr std::chrono::seconds kPatience(2);

// Without a run there is no screen that could tell what is waited for.
Result<std::string> find_patiently(const ReadingFlags& flags) {
  const auto notice = [&] {
    print_message("trainscope: waiting for {}, which does not respond; Ctrl-C ends this\n",
                  flags.home);
  };
  return work_patiently<Result<std::string>>([flags] { return find_named_run(flags); }, kPatience,
                                             notice);
}

Result<int> show_screen(const ReadingFlags& flags, const TopFlags& wanted) {
  TS_CHECK_OK(check_screen().with_context("top"));
  TS_TRY(const std::string path, find_patiently(flags));
  TS_TRY(const int signal, show_top(top_source(path), {theme_of(wanted.theme), false}));
  // Without exit(): a thread that still reads uses what that would destroy.
  if (signal == 0) ::_exit(0);
  // As a program that does not handle it.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  return 128 + signal;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  const auto flags = add_reading_flags(options, settings, false);
  add_run_argument(options, flags);
  auto wanted = std::make_shared<TopFlags>();
  options.add({.name = "--theme",
               .value = "THEME",
               .help = "colours: auto, ansi (only those of the terminal's own palette) or mono "
                       "(default: auto; mono if NO_COLOR is set)",
               .choices = {"auto", "ansi", "mono"},
               .set = store_in(wanted->theme)});
  return [flags, wanted] { return show_screen(*flags, *wanted); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "top",
    .summary = "show a run on the whole terminal, live or recorded",
    .examples = R"(trainscope top
trainscope top baseline
trainscope top latest~1 --theme mono
trainscope run --top -- python train.py)",
    .add = add,
};

}  // namespace trainscope::top_command
