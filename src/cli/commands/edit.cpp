// trainscope edit: changes the name, the note and the tags of a run.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/recording.h"
#include "cli/run_in_use.h"
#include "cli/tags.h"
#include "format/format.h"
#include "record/record.h"
#include "store/store.h"

namespace trainscope::edit_command {

namespace {

struct EditFlags {
  std::shared_ptr<ReadingFlags> reading;
  RunEdit edit;
  std::vector<std::string> tags;
  bool force = false;
};

// As `run` checks and stores them.
Result<RunEdit> checked_edit(const EditFlags& flags) {
  RunEdit edit = flags.edit;
  TS_CHECK_OK(check_text("--name", edit.name.value_or("")));
  TS_CHECK_OK(check_text("--note", edit.note.value_or("")));
  if (edit.name && !edit.name->empty()) {
    TS_CHECK_OK(check_run_name(*edit.name).with_context("--name"));
  }
  if (edit.note) edit.note = redact_text(*edit.note);
  TS_TRY(const auto tags, parse_tags(flags.tags).with_context("--tag"));
  edit.tags = redact_tags(tags);
  for (const std::string& key : edit.removed_tags) {
    if (edit.tags.contains(key)) {
      return Error(fmt::format("--remove-tag: '{}' is given with --tag too", key));
    }
  }
  if (edit.is_empty()) {
    return Error("edit: nothing to change; use --name, --tag, --remove-tag or --note");
  }
  return edit;
}

Result<int> edit_named_run(const EditFlags& flags) {
  TS_TRY(const RunEdit edit, checked_edit(flags));
  TS_TRY(const std::string path, find_run(flags.reading->home, flags.reading->run));
  // The manifest is written again when the run ends, without this change.
  if (const std::string reason = reason_in_use(path, flags.force); !reason.empty()) {
    return Error(fmt::format("edit: {}; nothing was changed", reason));
  }
  TS_CHECK_OK(edit_run(path, edit).with_context("edit"));
  TS_TRY(const Manifest manifest, read_manifest(path));
  show("changed {}{}{}\n", manifest.id, manifest.name.empty() ? "" : " ", manifest.name);
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<EditFlags>();
  flags->reading = add_reading_flags(options, settings, false);
  options.add({.name = "RUN",
               .value = "RUN",
               .help = "run to change: folder, id, name, latest or NAME~1",
               .is_required = true,
               .set = store_in(flags->reading->run)});
  options.add({.name = "--name",
               .value = "TEXT",
               .help = "new name of the run; '' removes it",
               .set = [flags](const std::string& value) { flags->edit.name = value; }});
  options.add({.name = "--note",
               .value = "TEXT",
               .help = "new sentence about the run; '' removes it",
               .set = [flags](const std::string& value) { flags->edit.note = value; }});
  options.add({.name = "--tag",
               .value = "KEY=VALUE",
               .help = "add a tag, or replace its value; repeatable",
               .repeats = true,
               .set = store_in(flags->tags)});
  options.add({.name = "--remove-tag",
               .value = "KEY",
               .help = "remove a tag; repeatable",
               .repeats = true,
               .set = store_in(flags->edit.removed_tags)});
  options.add({.name = "--force",
               .value = "",
               .help = "also change a run of another host that may still be running",
               .set = store_in(flags->force)});
  return [flags] { return edit_named_run(*flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "edit",
    .summary = "change the name, the tags and the note of a run",
    .examples = R"(trainscope edit latest --name baseline --tag lr=0.1
trainscope edit baseline~1 --remove-tag lr --note 'with a warm cache')",
    .add = add,
};

}  // namespace trainscope::edit_command
