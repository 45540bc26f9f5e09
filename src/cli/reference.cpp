#include "cli/reference.h"

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/setting_table.h"
#include "collect/collect.h"
#include "export/export.h"
#include "import/import.h"
#include "store/store.h"
#include "training/training.h"

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
      if (!is_argument) out += fmt::format("| `-h,--help` | {} |\n", kHelpHelp);
      for (const Option& option : described.options->all()) {
        if (option.is_argument() == is_argument) out += markdown_row(option);
      }
    }
    if (command.details == nullptr) continue;
    out += fmt::format("\n| {} | description |\n|---|---|\n", lower(command.details_title));
    for (const HelpRow& row : command.details()) {
      out += fmt::format("| `{}` | {} |\n", cell(row.name), cell(row.help));
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

std::string info_cell(const InfoPlace& place) {
  if (place.order == 0) return "`--all`";
  std::string text =
      place.label.empty() ? "yes" : fmt::format("`{}={}`", place.label, place.label_value);
  return text + (place.skips_idle ? ", unless idle" : "");
}

void add_metrics_table(std::string& out, std::span<const MetricSpec> metrics) {
  out += "| metric | unit | kind | labels | in `info` | what it is |\n|---|---|---|---|---|---|\n";
  for (const MetricSpec& spec : metrics) {
    out += fmt::format("| `{}` | `{}` | {} | {} | {} | {} |\n", spec.name, spec.unit,
                       kind_name(spec.kind), cell(spec.labels), info_cell(spec.info),
                       cell(spec.is_derived() ? fmt::format("{}: {}", spec.help, spec.formula)
                                              : std::string(spec.help)));
  }
}

std::string metrics_page() {
  std::string out = fmt::format(
      "# Metrics\n{}\nCounters are stored as counters: the machine's are the kernel's values since "
      "boot, the job's start at 0. `info` shows the main metrics and, with `--all`, every "
      "series.\n",
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
  out += "\n## Derived\n\nComputed from stored series on reading.\n\n";
  add_metrics_table(out, derived_metrics());
  return out;
}

std::string settings_row(const SettingSpec& spec) {
  std::string text = cell(spec.help);
  if (!spec.names.empty()) text += "; not from a `trainscope.toml` in the working directory";
  return fmt::format("| `{0}` | `--{0}` | `{1}` | {2} | {3} | {4} |\n", spec.name,
                     setting_variable(spec.name),
                     spec.default_value.empty() ? "" : fmt::format("`{}`", spec.default_value),
                     spec.commands.empty() ? "all that use runs" : spec.commands, text);
}

std::string settings_page() {
  std::string out = fmt::format(
      "# Settings\n{}\nA flag takes precedence over the environment, the environment over "
      "`trainscope.toml`, and that over the default. `trainscope.toml` is read in the user's "
      "configuration folder (`$XDG_CONFIG_HOME/trainscope`, usually `~/.config/trainscope`) and in "
      "the working directory, whose values take precedence. `trainscope info` shows where each "
      "value came from.\n\n"
      "- The name of a setting is its key in `trainscope.toml`: `every = \"10ms\"`.\n"
      "- A switch is `true` or `false` in the environment and in a file (also 1, 0, yes, no, on, "
      "off).\n"
      "- The values of a repeatable setting are an array in a file (`tag = [\"lr=0.1\", "
      "\"batch=64\"]`) and are separated by commas in the environment "
      "(`TRAINSCOPE_TAG=lr=0.1,batch=64`; `\\,` is a comma in a value). Values from one source "
      "replace those from another.\n"
      "- An empty variable counts as unset.\n"
      "- In a file, a path may begin with `~/`. A relative path is below the working directory of "
      "the job; only `home` is next to the file that names it.\n\n"
      "| setting | flag | variable | default | flag of | what it is |\n|---|---|---|---|---|---|\n",
      kNotice);
  for (const SettingSpec& spec : setting_specs()) out += settings_row(spec);
  return out;
}

std::string analyses_page() {
  std::string out = fmt::format(
      "# Analyses\n{}\n`trainscope info` and the summary of a run show the results of all "
      "analyses. "
      "`trainscope info --json` has a breakdown under the key of its analysis, and what that "
      "analysis could not decide under the same key with `_unknown`; `pauses` and `findings` are "
      "those of all analyses together.\n\n"
      "| analysis | row | key | needs | what it shows |\n|---|---|---|---|---|\n",
      kNotice);
  for (const Analysis* analysis : analyses()) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", analysis->name, cell(analysis->title),
                       analysis->json_key.empty() ? "" : fmt::format("`{}`", analysis->json_key),
                       cell(analysis->needs), cell(analysis->summary));
  }
  out += fmt::format(
      "\n## Rules of `diagnose`, version {}\n\nEach rule judges how far one verdict holds, from 0 "
      "to 1; "
      "the strongest is the verdict, and below 0.5 the verdict is `unknown`; of a job that reports "
      "nothing of its steps but their end also if the confidence is below 55 %. `trainscope "
      "diagnose --explain` shows what each rule saw.\n\n| rule | verdict | needs | what it finds "
      "|\n|---|---|---|---|\n",
      kRulesVersion);
  for (const Rule* rule : rules()) {
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", rule->name, rule->verdict, cell(rule->needs),
                       cell(rule->summary));
  }
  out +=
      "\n## Rules of `diagnose` for the ranks of a job\n\n| rule | verdict | needs | what it finds "
      "|\n|---|---|---|---|\n";
  for (const GroupRule* rule : group_rules()) {
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", rule->name, rule->verdict, cell(rule->needs),
                       cell(rule->summary));
  }
  out += "\n## Causes of verdicts\n\n| verdict | cause | what it is |\n|---|---|---|\n";
  for (const Cause& cause : causes()) {
    out += fmt::format("| `{}` | `{}` | {} |\n", cause.verdict, cause.cause, cell(cause.summary));
  }
  out +=
      "\n## Findings without a rule\n\nThey limit nothing by themselves. `*` is the kind of "
      "pause.\n\n| "
      "finding | what it is |\n|---|---|\n";
  for (const OtherFinding& finding : other_findings()) {
    out += fmt::format("| `{}` | {} |\n", finding.id, cell(finding.summary));
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
      "| format | extension | text | `--wide` | `--follow` | description |\n"
      "|---|---|---|---|---|---|\n",
      kNotice);
  for (const Exporter* exporter : exporters()) {
    const auto yes_or_no = [](bool is_so) { return is_so ? "yes" : "no"; };
    out += fmt::format("| `{}` | `{}` | {} | {} | {} | {} |\n", exporter->name, exporter->extension,
                       yes_or_no(exporter->is_text), yes_or_no(exporter->has_wide),
                       yes_or_no(exporter->follow != nullptr), cell(exporter->summary));
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
  return {{"analyses.md", analyses_page()},     {"commands.md", commands_page(commands)},
          {"metrics.md", metrics_page()},       {"settings.md", settings_page()},
          {"exit-codes.md", exit_codes_page()}, {"formats.md", formats_page()}};
}

}  // namespace trainscope
