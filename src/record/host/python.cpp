#include "record/host/python.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"
#include "record/host/inventory.h"

namespace trainscope {

namespace {

constexpr int kMaxLinks = 16;

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_program(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// The environment in which the names of a command are resolved.
struct Place {
  const std::string& root;
  const std::string& here;  // the working directory, without root
  const Variables& variables;
};

// As execvp would find it: names with a slash are paths, others are searched for in PATH.
std::optional<std::string> find_program(const Place& place, const std::string& name) {
  const auto& [root, here, variables] = place;
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) {
    const std::string path = name.starts_with('/') ? name : here + "/" + name;
    return is_program(root + path) ? std::optional<std::string>(path) : std::nullopt;
  }
  const std::string list = variables.get("PATH").value_or("/usr/bin:/bin");
  for (const std::string_view folder : split(list, ':')) {
    const std::string path = (folder.empty() ? here : std::string(folder)) + "/" + name;
    if (is_program(root + path)) return path;
  }
  return std::nullopt;
}

bool is_python(const std::string& path) {
  const std::string name = name_of(path);
  return name.starts_with("python") || name.starts_with("pypy");
}

// The interpreter in a script's first line. `#!/usr/bin/env -S python3 -u` is python3; installers
// write `#!/bin/sh` and then `'''exec' /long/path/python "$0"` if the path is too long for the
// kernel.
std::optional<std::string> script_interpreter(const Place& place, const std::string& path) {
  const auto text = read_beginning(place.root + path, 4096);
  if (!text || !text->starts_with("#!")) return std::nullopt;
  const auto lines = split(*text, '\n');
  const auto words = fields(lines[0].substr(2));
  if (words.empty()) return std::nullopt;
  const std::string first(words[0]);
  if (name_of(first) == "env") {
    for (const std::string_view word : std::span(words).subspan(1)) {
      if (word.starts_with('-') || word.find('=') != std::string_view::npos) continue;
      return find_program(place, std::string(word));
    }
    return std::nullopt;
  }
  if (name_of(first) == "sh" && lines.size() > 1 && lines[1].starts_with("'''exec'")) {
    auto path_word = trim(lines[1].substr(8));
    if (path_word.starts_with('"')) {
      path_word = path_word.substr(1, path_word.find('"', 1) - 1);
    } else {
      path_word = path_word.substr(0, path_word.find(' '));
    }
    return std::string(path_word);
  }
  return first;
}

// pyenv puts scripts named python3 into PATH; which interpreter they start is written in files.
std::string behind_shim(const Place& place, const std::string& path) {
  const auto& [root, here, variables] = place;
  const std::string folder = folder_of(path);
  if (!folder.ends_with("/shims")) return path;
  const std::string pyenv = folder_of(folder);
  std::optional<std::string> version = variables.get("PYENV_VERSION");
  for (std::string at = here; !version && at.starts_with('/'); at = folder_of(at)) {
    version = first_line(root + at + "/.python-version");
  }
  if (!version) version = first_line(root + pyenv + "/version");
  if (!version || version->find('/') != std::string::npos) return path;
  const std::string real = pyenv + "/versions/" + *version + "/bin/" + name_of(path);
  return is_program(root + real) ? real : path;
}

std::optional<std::string> interpreter_of(const Place& place,
                                          const std::vector<std::string>& command) {
  if (command.empty()) return std::nullopt;
  auto program = find_program(place, command.front());
  for (int i = 0; program && i < 3; ++i) {
    if (is_python(*program)) return program;
    program = script_interpreter(place, *program);
  }
  // env, nice, numactl, srun: the interpreter follows them.
  for (const std::string& word : command) {
    if (!is_python(word)) continue;
    if (auto path = find_program(place, word)) return path;
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = place.variables.get(variable).value_or("");
    if (prefix.empty()) continue;
    if (auto path = find_program(place, prefix + "/bin/python")) return path;
  }
  return std::nullopt;
}

// The path itself and the targets of its links, one step at a time.
std::vector<std::string> link_chain(const std::string& root, std::string path) {
  std::vector<std::string> chain = {path};
  for (int i = 0; i < kMaxLinks; ++i) {
    char target[PATH_MAX];
    const ssize_t size = ::readlink((root + path).c_str(), target, sizeof target);
    if (size <= 0) break;
    const std::string next(target, static_cast<size_t>(size));
    path = next.starts_with('/') ? next : folder_of(path) + "/" + next;
    chain.push_back(path);
  }
  return chain;
}

// "3.11" of a name like python3.11; nothing for python3.
std::optional<std::string> version_in_name(const std::string& name) {
  const size_t digit = name.find_first_of("0123456789");
  if (digit == std::string::npos || name.find('.', digit) == std::string::npos) return std::nullopt;
  const size_t end = std::min(name.find_first_not_of("0123456789.", digit), name.size());
  return name.substr(digit, end - digit);
}

std::string major_minor(const std::string& version) {
  const size_t dot = version.find('.');
  return dot == std::string::npos ? version : version.substr(0, version.find('.', dot + 1));
}

// Package folders below prefix/lib, of this version (of all when it is not known).
void add_folders(const std::string& root, const std::string& prefix, Python& python) {
  for (const char* lib : {"/lib/", "/lib64/", "/local/lib/"}) {
    for (const std::string& name : names_in(root + prefix + lib)) {
      if (!name.starts_with("python")) continue;
      const auto version = version_in_name(name);
      if (version && python.version && major_minor(*python.version) != *version) continue;
      for (const char* kind : {"/site-packages", "/dist-packages"}) {
        python.folders.push_back(prefix + lib + name + kind);
      }
    }
  }
}

struct Environment {
  std::string prefix, configuration;
};

// The virtual environment that Python would find: pyvenv.cfg next to the program or one folder up,
// before links are followed.
std::optional<Environment> virtual_environment(const std::string& root,
                                               const std::vector<std::string>& chain) {
  for (const std::string& path : chain) {
    const std::string folder = folder_of(path);
    for (const std::string& place : {folder, folder_of(folder)}) {
      if (auto text = read_beginning(root + place + "/pyvenv.cfg"))
        return Environment{place, *text};
    }
  }
  return std::nullopt;
}

std::optional<std::string> conda_version(const std::string& root, const std::string& prefix) {
  for (const std::string& name : names_in(root + prefix + "/conda-meta")) {
    if (!name.starts_with("python-") || !name.ends_with(".json")) continue;
    const std::string version = name.substr(7, name.find('-', 7) - 7);
    if (version.find_first_not_of("0123456789.") == std::string::npos) return version;
  }
  return std::nullopt;
}

void add_environment_folders(const Variables& variables, Python& python, bool user_site) {
  const std::string list = variables.get("PYTHONPATH").value_or("");
  for (const std::string_view folder : split(list, ':')) {
    if (folder.starts_with('/')) python.folders.emplace_back(folder);
  }
  const auto home = variables.get("HOME");
  if (user_site && home && python.version) {
    python.folders.push_back(*home + "/.local/lib/python" + major_minor(*python.version) +
                             "/site-packages");
  }
}

std::string normalised(std::string_view name) {
  std::string out = lower(name);
  std::replace(out.begin(), out.end(), '_', '-');
  std::replace(out.begin(), out.end(), '.', '-');
  return out;
}

}  // namespace

std::optional<Python> find_python(const std::string& root, const std::string& working_directory,
                                  const std::vector<std::string>& command,
                                  const Variables& variables) {
  const Place place{root, working_directory, variables};
  auto executable = interpreter_of(place, command);
  if (!executable) return std::nullopt;
  executable = behind_shim(place, *executable);
  const std::vector<std::string> chain = link_chain(root, *executable);
  const std::string base = folder_of(folder_of(chain.back()));
  Python python;
  python.executable = *executable;
  python.version = version_in_name(name_of(chain.back()));
  const auto environment = virtual_environment(root, chain);
  python.prefix = environment ? environment->prefix : base;
  if (environment) {
    for (const char* key : {"version", "version_info"}) {
      if (const auto version = value_of(environment->configuration, key, '=')) {
        python.version = version->substr(0, version->find_first_not_of("0123456789."));
        break;
      }
    }
  } else if (auto version = conda_version(root, base)) {
    python.version = version;
  }
  const bool sees_system = !environment || value_of(environment->configuration,
                                                    "include-system-site-packages", '=') == "true";
  add_environment_folders(variables, python, sees_system);
  if (environment) add_folders(root, environment->prefix, python);
  if (sees_system) add_folders(root, base, python);
  return python;
}

std::map<std::string, std::string> installed_packages(const std::string& root,
                                                      const Python& python) {
  std::map<std::string, std::string> versions;
  for (const std::string& folder : python.folders) {
    for (const std::string& name : names_in(root + folder)) {
      if (!name.ends_with(".dist-info") && !name.ends_with(".egg-info")) continue;
      // numpy-1.24.2.dist-info; numpy-1.24.2-py3.11.egg-info
      const std::string stem = name.substr(0, name.rfind('.'));
      const size_t dash = stem.find('-');
      if (dash == std::string::npos) continue;
      const size_t end = stem.find('-', dash + 1);
      versions.emplace(normalised(stem.substr(0, dash)),
                       stem.substr(dash + 1, end == std::string::npos ? end : end - dash - 1));
    }
  }
  return versions;
}

}  // namespace trainscope
