#include "cli/reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "collect/collect.h"
#include "export/export.h"
#include "import/import.h"
#include "store/derived.h"
#include "store/training.h"

namespace trainscope {

namespace {

constexpr const char* kNotice =
    "\n<!-- Written by `trainscope docs`; change the code, then run scripts/check-docs --fix. "
    "-->\n";

// A cell may not end its row.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string markdown_row(const Option& option) {
  std::string name = option.label();
  if (option.repeats) name += " …";
  return fmt::format("| `{}` | {} |\n", cell(name), cell(option.help));
}

std::string commands_page(const std::vector<CommandOptions>& commands) {
  std::string out = fmt::format("# Commands\n{}", kNotice);
  for (const CommandOptions& described : commands) {
    const Command& command = *described.command;
    out += fmt::format("\n## {}\n\n{}.\n\n```\n{}\n```\n", command.name, command.summary,
                       usage_line(described));
    if (!command.examples.empty()) out += fmt::format("\n```\n{}\n```\n", command.examples);
    out += "\n| option | description |\n|---|---|\n";
    for (const bool is_argument : {true, false}) {
      if (!is_argument) out += "| `-h,--help` | print this help |\n";
      for (const Option& option : described.options->all()) {
        if (option.is_argument() == is_argument) out += markdown_row(option);
      }
    }
  }
  return out;
}

std::string_view scope_name(Scope scope) {
  switch (scope) {
    case Scope::machine:
      return "the machine";
    case Scope::job:
      return "the job";
    case Scope::recorder:
      return "Trainscope itself";
  }
  return "";
}

std::string pace_text(const Collector& collector) {
  switch (collector.pace) {
    case Pace::tick:
      return "every sample";
    case Pace::second:
      return "at most once per second";
    case Pace::thread:
      return fmt::format("every {} on its own thread",
                         duration_text(static_cast<double>(collector.period_ns) / 1e9));
  }
  return "";
}

void add_metrics_table(std::string& out, std::span<const MetricSpec> metrics) {
  out += "| metric | unit | kind | labels | description |\n|---|---|---|---|---|\n";
  for (const MetricSpec& spec : metrics) {
    out += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", spec.name, spec.unit,
                       kind_name(spec.kind), cell(spec.labels), cell(spec.help));
  }
}

std::string metrics_page() {
  std::string out = fmt::format(
      "# Metrics\n{}\nCounters are stored as counters: the machine's are the kernel's values since "
      "boot, the job's start at 0. Derived metrics are computed on reading.\n",
      kNotice);
  for (const Collector* collector : collectors()) {
    out += fmt::format("\n## {}\n\n{}. Scope: {}. Read: {}. Needs: {}.\n\n", collector->name,
                       collector->summary, scope_name(collector->scope), pace_text(*collector),
                       collector->needs.empty() ? "nothing" : collector->needs);
    add_metrics_table(out, collector->metrics);
  }
  out +=
      "\n## training\n\nProgress reported by the job (docs/guide/progress.md); `source` is pipe, "
      "tensorboard or output. Each value has the time of its step.\n\n";
  add_metrics_table(out, training_metrics());
  out += "\n## Derived\n\n| metric | unit |\n|---|---|\n";
  // Of a run in which nothing was stored every derived series is absent, and so all are named.
  std::vector<std::string> rows;
  for (const DerivedSeries& derived : list_derived(SeriesDirectory(), "{}")) {
    rows.push_back(fmt::format("| `{}` | `{}` |\n", derived.series.metric, derived.series.unit));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return out + fmt::format("{}", fmt::join(rows, ""));
}

std::string settings_page() {
  std::string out = fmt::format(
      "# Settings\n{}\nA flag takes precedence over the environment, the environment over "
      "`trainscope.toml`, and that over the default. `trainscope.toml` is read in the user's "
      "configuration folder "
      "(`$XDG_CONFIG_HOME/trainscope`, that is `~/.config/trainscope`) and then in the working "
      "directory, whose values take precedence. An empty variable counts as unset. `trainscope "
      "info` shows "
      "where each value came from.\n\n"
      "| setting | flag | variable | default | description |\n|---|---|---|---|---|\n",
      kNotice);
  for (const SettingSpec& spec : setting_specs()) {
    const Setting in_environment = {std::string(spec.name), "", "environment"};
    out += fmt::format(
        "| `{0}` | `--{0}` | `{1}` | {2} | {3}{4} |\n", spec.name, setting_origin(in_environment),
        spec.default_value.empty() ? "" : fmt::format("`{}`", spec.default_value), cell(spec.help),
        !spec.names.empty() ? "; not from a `trainscope.toml` in the working directory" : "");
  }
  return out;
}

std::string exit_codes_page() {
  std::string out =
      fmt::format("# Exit codes\n{}\n| command | code | meaning |\n|---|---|---|\n", kNotice);
  for (const ExitCode& code : kExitCodes) {
    out += fmt::format("| {} | {} | {} |\n", code.command, code.code, cell(code.meaning));
  }
  return out;
}

std::string formats_page() {
  std::string out = fmt::format(
      "# Formats\n{}\n## Export\n\n`trainscope export RUN --to FORMAT`.\n\n"
      "| format | extension | text | `--wide` | description |\n|---|---|---|---|---|\n",
      kNotice);
  for (const Exporter* exporter : exporters()) {
    out += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", exporter->name, exporter->extension,
                       exporter->is_text ? "yes" : "no", exporter->has_wide ? "yes" : "no",
                       cell(exporter->summary));
  }
  out +=
      "\n## Import\n\n`trainscope import --from FORMAT PATH`.\n\n"
      "| format | PATH is | description |\n|---|---|---|\n";
  for (const Importer* importer : importers()) {
    out += fmt::format("| `{}` | {} | {} |\n", importer->name, cell(importer->input),
                       cell(importer->summary));
  }
  return out;
}

}  // namespace

std::map<std::string, std::string> reference_pages(const std::vector<CommandOptions>& commands) {
  return {{"commands.md", commands_page(commands)},
          {"metrics.md", metrics_page()},
          {"settings.md", settings_page()},
          {"exit-codes.md", exit_codes_page()},
          {"formats.md", formats_page()}};
}

}  // namespace trainscope
