// The runs of a home: listing them and finding one.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/fd.h"
#include "base/suggest.h"
#include "base/text.h"
#include "format/format.h"
#include "store/home/run_argument.h"
#include "store/read/files.h"
#include "store/read/machine_series.h"
#include "store/read/run_id.h"
#include "store/read/run_index.h"
#include "store/read/sampling.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr size_t kSuggestions = 5;
constexpr size_t kMostRanksBeside = 256;
constexpr std::string_view kManifestFamily = "\"trainscope.manifest/";  // of any version

// The home of a run folder and the folder's name in it: `path` may be a bare name.
std::pair<std::string, std::string> home_and_name(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// The fault in the first bytes of a file of frames, or "" if there is none. A file that is gone has
// none: `tail` is removed when the run has ended.
std::string header_problem(const std::string& path) {
  const auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return exists(path) ? fd.error().message() : "";
  std::string bytes(kFileHeaderBytes, '\0');
  const ssize_t n = ::pread(fd->get(), bytes.data(), bytes.size(), 0);
  if (n < 0) return Error::from_errno("cannot read " + path, errno).message();
  bytes.resize(static_cast<size_t>(n));
  const Status header = check_file_header(bytes);
  return header ? "" : path + ": " + header.error().message();
}

bool holds_run(const std::string& path) {
  return exists(path + "/manifest.json") || exists(path + "/samples-0001.seg");
}

// Other programs write a manifest.json too: a folder that a path names is a run when that is ours,
// or, should it be damaged, when its own name or its samples are a run's.
bool is_run_folder(const std::string& path) {
  const auto text = read_regular_file(path + "/manifest.json", kMaxManifestBytes);
  if (text && text->find(kManifestFamily) != std::string::npos) return true;
  const std::string first = path + "/samples-0001.seg";
  if (is_run_folder_name(home_and_name(path).second) && exists(first)) return true;
  const auto samples = open_file(first, O_RDONLY | O_NONBLOCK);
  std::string bytes(kFileHeaderBytes, '\0');
  return samples && ::pread(samples->get(), bytes.data(), bytes.size(), 0) > 0 &&
         bytes == file_header();
}

// A run with a damaged manifest, described by its samples. It is still being recorded, or it stays
// damaged.
void use_rebuilt(RunListing& listing, RunFiles files) {
  listing.manifest = std::move(files.manifest);
  if (files.status == RunStatus::running) listing.status = RunStatus::running;
}

// Only the manifest, unless it is damaged.
RunListing identify_run(const std::string& path, const std::string& folder_name) {
  RunListing listing;
  listing.path = path;
  auto manifest = read_manifest(path);
  if (manifest) {
    listing.manifest = std::move(*manifest);
    return listing;
  }
  listing.manifest.id = folder_name.substr(0, kRunIdLength);
  listing.status = RunStatus::damaged;
  listing.problem = manifest.error().message();
  if (auto files = load_run_files(path, Extent::ends)) use_rebuilt(listing, std::move(*files));
  return listing;
}

RunListing list_one(const std::string& path, const std::string& folder_name) {
  RunListing listing = identify_run(path, folder_name);
  if (!listing.problem.empty()) return listing;
  listing.status = run_status(path, listing.manifest);
  const auto names = list_folder(path);
  if (!names) return listing;
  for (const std::string& name : *names) {
    if (name != "tail" && !segment_number(name)) continue;
    listing.problem = header_problem(path + "/" + name);
    if (listing.problem.empty()) continue;
    listing.status = RunStatus::damaged;
    break;
  }
  return listing;
}

using ReadRun = RunListing (*)(const std::string& path, const std::string& folder_name);

// One run never stops the others.
std::vector<RunListing> read_safely(const std::string& home,
                                    const std::vector<std::string>& folders, ReadRun read_run) {
  std::vector<RunListing> runs;
  runs.reserve(folders.size());
  for (const std::string& name : folders) {
    const std::string path = home + "/" + name;
    try {
      runs.push_back(read_run(path, name));
    } catch (const std::bad_alloc&) {
      RunListing listing;
      listing.path = path;
      listing.manifest.id = name.substr(0, kRunIdLength);
      listing.status = RunStatus::damaged;
      listing.problem = path + ": not enough memory to read it";
      runs.push_back(std::move(listing));
    }
  }
  return runs;
}

// Names in a home that a run folder may have, oldest first; a home that is not there yet has none.
Result<std::vector<std::string>> folder_names(const std::string& home) {
  if (!exists(home)) return std::vector<std::string>();
  TS_TRY(std::vector<std::string> names, list_folder(home));
  std::erase_if(names, [](const std::string& name) { return !is_run_folder_name(name); });
  return names;
}

// "latest" is 0, "latest~2" is 2.
std::optional<size_t> latest_index(std::string_view text) {
  const RunsByName wanted = parse_runs_by_name(text);
  return wanted.name == "latest" ? std::optional(wanted.back) : std::nullopt;
}

std::string known_as(const RunListing& run) {
  const std::string& id = run.manifest.id;
  return run.manifest.name.empty() ? id : fmt::format("{} ({})", run.manifest.name, id);
}

Error not_found(const std::string& text, const std::vector<RunListing>& runs) {
  std::vector<std::pair<size_t, const RunListing*>> near;
  const std::string wanted = lower(text);
  for (const RunListing& run : runs) {
    const std::string name = lower(run.manifest.name);
    size_t distance = edit_distance(wanted, run.manifest.id);
    if (!name.empty()) {
      distance = std::min(distance, edit_distance(wanted, name));
      if (name.find(wanted) != std::string::npos) distance = std::min<size_t>(distance, 1);
    }
    if (distance <= std::max<size_t>(2, wanted.size() / 3)) near.emplace_back(distance, &run);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> suggestions;
  for (size_t i = 0; i < near.size() && i < kSuggestions; ++i) {
    suggestions.push_back(known_as(*near[i].second));
  }
  const std::string message = fmt::format("no run matches '{}'", text);
  if (!suggestions.empty()) return Error(message + did_you_mean(suggestions));
  return Error(message +
               (runs.empty() ? "; nothing has been recorded yet" : "; try `trainscope list`"));
}

// Does not touch runs before the one that is meant.
Result<std::string> find_latest(const std::string& home, size_t back) {
  TS_TRY(const std::vector<std::string> names, folder_names(home));
  size_t found = 0;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const std::string path = home + "/" + *name;
    if (holds_run(path) && found++ == back) return path;
  }
  if (found == 0) {
    return Error(
        fmt::format("no runs in {} yet; record one with `trainscope run -- COMMAND`", home));
  }
  return Error(found == 1 ? fmt::format("only 1 run exists in {}", home)
                          : fmt::format("only {} runs exist in {}", found, home));
}

// Folders of the runs that an argument means by name, oldest first.
std::vector<std::string> paths_of(const std::vector<RunListing>& runs, const RunsByName& wanted) {
  std::vector<std::string> paths;
  for (const RunListing& run : runs) {
    if (is_meant(wanted, run.manifest.name)) paths.push_back(run.path);
  }
  return paths;
}

// NAME~1 and 'NAME*'.
Result<std::vector<std::string>> find_by_name(const std::string& text,
                                              const std::vector<RunListing>& runs) {
  const RunsByName wanted = parse_runs_by_name(text);
  std::vector<std::string> paths = paths_of(runs, wanted);
  if (paths.empty()) return not_found(wanted.counts_back ? wanted.name : text, runs);
  if (!wanted.counts_back) return paths;
  if (wanted.back >= paths.size()) {
    return Error(fmt::format("only {} run{} the name '{}'; try `trainscope list --name '{}'`",
                             paths.size(), paths.size() == 1 ? " has" : "s have", wanted.name,
                             wanted.name));
  }
  return std::vector<std::string>{paths[paths.size() - 1 - wanted.back]};
}

// Where one run is needed.
Error not_one_run(const std::string& text, const RunTarget& target) {
  std::string ids;
  for (size_t i = 0; i < target.paths.size() && i < kSuggestions; ++i) {
    ids += (i == 0 ? "" : ", ") + target.paths[i].substr(target.paths[i].rfind('/') + 1);
  }
  if (target.paths.size() > kSuggestions) ids += ", …";
  return Error(fmt::format("'{}' is a group of {} runs; use the id of one of them: {}", text,
                           target.paths.size(), ids));
}

bool contains(const std::vector<std::string>& all, const std::string& text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

// A path that leads to no run.
Error not_a_run(const std::string& path) {
  if (!exists(path)) return Error(fmt::format("folder {} does not exist", path));
  return Error(
      exists(path + "/manifest.json")
          ? fmt::format("{} is not a run: its manifest.json was not written by Trainscope", path)
          : fmt::format("{} is not a run: it has no manifest.json", path));
}

}  // namespace

Result<std::vector<std::string>> run_folders(const std::string& home) {
  TS_TRY(std::vector<std::string> names, folder_names(home));
  std::erase_if(names, [&](const std::string& name) { return !holds_run(home + "/" + name); });
  return names;
}

Result<std::vector<RunListing>> list_runs(const std::string& home) {
  TS_TRY(const std::vector<std::string> folders, run_folders(home));
  return read_safely(home, folders, list_one);
}

std::optional<double> last_sample_s(const std::string& run_path) {
  try {
    const auto files = load_run_files(run_path, Extent::ends);
    if (!files) return std::nullopt;
    const auto index = index_run(*files);
    return index ? std::optional(last_row_s(*index)) : std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

RunListing list_run(const std::string& run_path) {
  const auto [home, name] = home_and_name(run_path);
  RunListing run = read_safely(home, {name}, list_one).front();
  run.path = run_path;
  return run;
}

Result<RunTarget> find_target(const std::string& home, const std::string& text) {
  using Paths = std::vector<std::string>;
  if (text.empty()) return Error("the name of the run is empty");
  if (is_run_folder(text)) return RunTarget{{text}};
  // Before names, which need every manifest: no run can have this one (check_run_name).
  if (const auto back = latest_index(text)) {
    TS_TRY(std::string path, find_latest(home, *back));
    return RunTarget{{std::move(path)}};
  }
  TS_TRY(const std::vector<std::string> folders, run_folders(home));
  for (const std::string& name : folders) {
    if (name == text || (is_run_id(text) && name.starts_with(text))) {
      return RunTarget{{home + "/" + name}};
    }
  }
  const std::vector<RunListing> runs = read_safely(home, folders, identify_run);
  if (Paths named = paths_of(runs, {.name = text}); !named.empty()) {
    return RunTarget{std::move(named)};
  }
  Paths matches;
  for (const std::string& name : folders) {
    if (name.starts_with(text)) matches.push_back(home + "/" + name);
  }
  if (matches.size() == 1) return RunTarget{std::move(matches)};
  if (matches.size() > 1) {
    return Error(fmt::format("'{}' matches {} run ids, including {} and {}; use a longer prefix",
                             text, matches.size(), matches.front().substr(home.size() + 1),
                             matches.back().substr(home.size() + 1)));
  }
  TS_TRY(const auto group, find_group(group_runs(runs), text));
  if (group) return RunTarget{group->paths, group};
  const bool is_path = text.find('/') != std::string::npos || exists(text + "/manifest.json");
  auto by_name = find_by_name(text, runs);
  if (!by_name && is_path) return not_a_run(text);
  if (!by_name) return by_name.error();
  return RunTarget{std::move(*by_name)};
}

Result<std::vector<std::string>> find_runs(const std::string& home, const std::string& text) {
  TS_TRY(RunTarget target, find_target(home, text));
  return std::move(target.paths);
}

Result<std::string> find_run(const std::string& home, const std::string& text) {
  TS_TRY(const RunTarget target, find_target(home, text));
  if (target.group && target.paths.size() > 1) return not_one_run(text, target);
  return target.paths.back();
}

namespace {

// The other ranks of the job on the same machine, as far as they are in the same home.
std::vector<RunListing> ranks_beside(const std::string& run_path, const Manifest& manifest) {
  std::vector<RunListing> ranks;
  if (manifest.job.empty()) return ranks;
  const std::string home = home_and_name(run_path).first;
  const std::string own_path = home + "/" + home_and_name(run_path).second;
  auto folders = folder_names(home);
  if (!folders) return ranks;
  const auto start_ns = run_id_realtime_ns(manifest.id);
  std::erase_if(*folders, [&](const std::string& name) {
    const auto other_ns = run_id_realtime_ns(std::string_view(name).substr(0, kRunIdLength));
    const bool is_far = start_ns && other_ns && std::abs(*start_ns - *other_ns) > kIdReuseNs;
    return is_far || !holds_run(home + "/" + name);
  });
  const std::vector<RunListing> runs = read_safely(home, *folders, identify_run);
  for (const RunGroup& group : group_runs(runs)) {
    const auto has = [&](const std::string& path) { return contains(group.paths, path); };
    if (group.kind != GroupKind::ranks || !has(own_path)) continue;
    for (const RunListing& run : runs) {
      const bool is_other = has(run.path) && run.manifest.id != manifest.id;
      if (is_other && is_same_machine(run.manifest, manifest)) ranks.push_back(run);
    }
  }
  return ranks;
}

// Of a rank that records the machine.
std::unique_ptr<RunView> with_rank_series(std::unique_ptr<RunView> run,
                                          const std::vector<RunListing>& of_job) {
  const Manifest& manifest = run->manifest();
  if (manifest.world_size < 2) return run;
  const auto ranks = of_job.empty() ? ranks_beside(run->path(), manifest) : of_job;
  std::vector<std::unique_ptr<RunView>> others;
  for (const RunListing& rank : ranks) {
    // Of the ranks of a machine one records it: another that does too is of another machine.
    const bool is_beside = rank.manifest.id != manifest.id && !rank.manifest.records_machine &&
                           is_same_machine(rank.manifest, manifest);
    if (!is_beside || others.size() == kMostRanksBeside) continue;
    if (auto opened = open_run(rank.path)) others.push_back(std::move(*opened));
  }
  return others.empty() ? std::move(run) : add_rank_series(std::move(run), std::move(others));
}

}  // namespace

std::optional<RunListing> find_machine_run(const std::string& run_path, const Manifest& manifest) {
  if (manifest.records_machine) {
    RunListing own;
    own.path = run_path;
    own.manifest = manifest;
    return own;
  }
  for (const RunListing& rank : ranks_beside(run_path, manifest)) {
    if (rank.manifest.records_machine) return rank;
  }
  return std::nullopt;
}

std::unique_ptr<RunView> with_machine_series(std::unique_ptr<RunView> run,
                                             const std::vector<RunListing>& of_job) {
  const Manifest& manifest = run->manifest();
  if (manifest.records_machine) return with_rank_series(std::move(run), of_job);
  const auto is_it = [&](const RunListing& other) {
    return other.manifest.records_machine && is_same_machine(other.manifest, manifest);
  };
  const auto known = std::find_if(of_job.begin(), of_job.end(), is_it);
  const auto found =
      known != of_job.end() ? std::optional(*known) : find_machine_run(run->path(), manifest);
  if (!found) return run;
  auto machine = open_run(found->path);
  return machine ? add_machine_series(std::move(run), std::move(*machine)) : std::move(run);
}

}  // namespace trainscope
