#include "report/about.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/analyze.h"
#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

void add_text(NamedTexts& rows, const char* name, const std::string& value) {
  if (!value.empty()) rows.emplace_back(name, value);
}

std::string gpus_text(const Json& gpus) {
  std::string text;
  if (!gpus.is_array()) return text;
  for (const Json& gpu : gpus) text += (text.empty() ? "" : ", ") + text_field(gpu, "name");
  return text;
}

std::string processor_text(const Json& host) {
  std::string text = text_field(host, "cpu_model");
  if (const auto threads = number_field(host, "threads")) {
    text += fmt::format("{}{:.0f} CPUs", text.empty() ? "" : ", ", *threads);
  }
  return text;
}

std::string packages_text(const Json& packages) {
  std::string text;
  if (!packages.is_object()) return text;
  for (const auto& [name, version] : packages.items()) {
    if (!version.is_string()) continue;
    text += (text.empty() ? "" : ", ") + name + " " + version.get<std::string>();
  }
  return text;
}

std::string git_text(const Json& git) {
  const std::string commit = text_field(git, "commit"), branch = text_field(git, "branch");
  return branch.empty() || commit.empty() ? commit : commit + " (" + branch + ")";
}

// As a shell reads it.
std::string shell_word(const std::string& word) {
  const bool is_plain = !word.empty() && word.find_first_not_of(
                                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-./=:,+@%") == std::string::npos;
  if (is_plain) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::string shown_duration(const RunView& run) {
  const bool is_running = run.status() == RunStatus::running;
  return duration_text(run.duration_s()) + (is_running ? " so far" : "");
}

NamedTexts environment_of(const RunView& run) {
  const Json host = parse_json(run.host_json());
  const Manifest& m = run.manifest();
  NamedTexts rows;
  add_text(rows, "host", m.host_name);
  add_text(rows, "processor", processor_text(host));
  if (const auto bytes = number_field(host, "memory_bytes")) {
    add_text(rows, "memory", bytes_text(*bytes));
  }
  add_text(rows, "GPUs", gpus_text(field(host, "gpus")));
  add_text(rows, "GPU driver", text_field(host, "gpu_driver"));
  add_text(rows, "kernel", text_field(host, "kernel"));
  add_text(rows, "distribution", text_field(host, "distribution"));
  add_text(rows, "virtualisation", text_field(host, "virtualisation"));
  add_text(rows, "container", text_field(host, "container"));
  const Json& software = field(host, "software");
  add_text(rows, "Python", text_field(field(software, "python"), "version"));
  add_text(rows, "packages", packages_text(field(software, "packages")));
  add_text(rows, "CUDA", text_field(field(software, "cuda"), "version"));
  add_text(rows, "git commit", git_text(field(host, "git")));
  add_text(rows, "Trainscope", m.trainscope_version);
  return rows;
}

NamedTexts method_of(const RunView& run, bool has_comparison) {
  const Sampling& s = run.sampling();
  NamedTexts rows;
  std::string sampling = fmt::format(
      "Every {} the recorder read its sources: {} {} taken, {} due {} missed.",
      duration_text(s.period_s), counted(s.samples, "sample"), s.samples == 1 ? "was" : "were",
      s.missed, s.missed == 1 ? "one was" : "ones were");
  if (s.jitter_p99_s) {
    sampling +=
        fmt::format(" Half of them began within {} of their time, 99 % within {}.",
                    duration_text(s.jitter_p50_s.value_or(0)), duration_text(*s.jitter_p99_s));
  }
  rows.emplace_back("Samples", sampling);
  const Overhead overhead = run.overhead();
  std::string used;
  // Starting costs the same for a job of a millisecond, where a ratio would be meaningless.
  if (run.duration_s() < 1 && overhead.cpu_s) {
    used = duration_text(*overhead.cpu_s) + " of CPU time";
  } else if (overhead.cpu_ratio) {
    used = fmt::format("{:.2f} % of one CPU", 100 * *overhead.cpu_ratio);
  }
  if (!used.empty()) {
    rows.emplace_back(
        "Overhead", fmt::format("All processes of the recorder together used {}. {} were written.",
                                used, bytes_text(overhead.bytes_written.value_or(0))));
  }
  rows.emplace_back(
      "Verdict", fmt::format("Rules (version {}) weigh what the job reported and what its threads, "
                             "disks and GPUs did; the strongest one is the verdict. Its confidence "
                             "comes from how often verdicts of the same strength were right for "
                             "jobs with a known cause.",
                             kRulesVersion));
  rows.emplace_back(
      "Where the time went",
      "Phases that the job reported are taken as reported. The rest is divided by what "
      "its threads and its GPU did; what nothing explains is named so.");
  rows.emplace_back(
      "Bound of a speed-up",
      "If the lost time of a finding were zero and everything else the same, the "
      "training would be faster by this factor. It is an upper bound, not a promise.");
  rows.emplace_back(
      "Charts",
      "A long run is divided into windows of equal width; a line is the mean of each, "
      "the band goes from its smallest to its largest value. Counters are shown as "
      "rates; a gap in the recording is a gap in the line.");
  if (has_comparison) {
    rows.emplace_back(
        "Comparison",
        "The warm-up is left out; intervals are 95 % intervals that take into account "
        "that neighbouring steps are alike. With one run per side the statement is "
        "about those two runs; with repeats it is about the two configurations.");
  }
  return rows;
}

namespace {

// Names of runs; the ids of those whose name another run has too.
std::vector<std::string> names_of(const std::vector<DiagnosedRun>& runs) {
  std::map<std::string, int> uses;
  for (const DiagnosedRun& one : runs) ++uses[one.run->manifest().name];
  std::vector<std::string> names;
  for (const DiagnosedRun& one : runs) {
    const Manifest& m = one.run->manifest();
    names.push_back(m.name.empty() || uses[m.name] > 1 ? m.id : m.name);
  }
  return names;
}

const std::string* find_text(const NamedTexts& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == name; });
  return found == rows.end() ? nullptr : &found->second;
}

// The rows of several runs as one list, in the order in which they first appear.
NamedTexts merged(const std::vector<std::string>& names, const std::vector<NamedTexts>& all,
                  const char* separator) {
  NamedTexts rows;
  for (const NamedTexts& one : all) {
    for (const auto& row : one) {
      if (find_text(rows, row.first) == nullptr) rows.emplace_back(row.first, "");
    }
  }
  for (auto& row : rows) {
    const std::string& name = row.first;
    const auto is_same = [&, first = find_text(all.front(), name)](const NamedTexts& one) {
      const std::string* const other = find_text(one, name);
      return first != nullptr && other != nullptr && *other == *first;
    };
    if (std::all_of(all.begin(), all.end(), is_same)) {
      row.second = *find_text(all.front(), name);
      continue;
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string* const value = find_text(all[i], name);
      row.second += fmt::format("{}{}: {}", i > 0 ? separator : "", names[i],
                                value == nullptr ? "unknown" : *value);
    }
  }
  return rows;
}

}  // namespace

NamedTexts environment_of(const std::vector<DiagnosedRun>& runs) {
  std::vector<NamedTexts> all;
  for (const DiagnosedRun& one : runs) all.push_back(environment_of(*one.run));
  return merged(names_of(runs), all, "; ");
}

NamedTexts method_of(const std::vector<DiagnosedRun>& runs, bool has_comparison) {
  std::vector<NamedTexts> all;
  for (const DiagnosedRun& one : runs) all.push_back(method_of(*one.run, has_comparison));
  return merged(names_of(runs), all, " ");
}

std::string reproduction_of(const Manifest& manifest, const std::string& host_json) {
  std::string text;
  const Json host = parse_json(host_json);
  const std::string commit = text_field(field(host, "git"), "commit");
  if (!manifest.working_directory.empty())
    text += "cd " + shell_word(manifest.working_directory) + "\n";
  if (!commit.empty()) text += "git checkout " + shell_word(commit) + "\n";
  if (!manifest.imported_format.empty()) {
    return text + "# imported from " + manifest.imported_format;
  }
  text += "trainscope run";
  for (const Setting& setting : manifest.settings) {
    if (setting.from != "flag" || setting.name == "home" || setting.name == "id-file") continue;
    text += setting.value == "true" ? " --" + setting.name
                                    : " --" + setting.name + " " + shell_word(setting.value);
  }
  text += " --";
  for (const std::string& word : manifest.command) text += " " + shell_word(word);
  return text;
}

std::string reproduction_of(const std::vector<DiagnosedRun>& runs) {
  std::vector<std::pair<std::string, std::string>> found;  // name and command line
  for (const DiagnosedRun& diagnosed : runs) {
    const Manifest& m = diagnosed.run->manifest();
    std::string text = reproduction_of(m, diagnosed.run->host_json());
    const bool is_known = std::any_of(found.begin(), found.end(),
                                      [&](const auto& known) { return known.second == text; });
    if (!is_known) found.emplace_back(printable(m.name.empty() ? m.id : m.name), std::move(text));
  }
  if (found.size() == 1) return found.front().second;
  std::string all;
  for (const auto& [name, text] : found) {
    all += fmt::format("{}# {}\n{}\n", all.empty() ? "" : "\n", name, text);
  }
  return all;
}

}  // namespace trainscope
