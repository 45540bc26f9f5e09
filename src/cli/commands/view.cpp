// trainscope view: shows runs in a web browser.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/compared_sides.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "store/store.h"
#include "web/web.h"

namespace trainscope::view_command {

namespace {

struct ViewFlags {
  std::shared_ptr<ReadingFlags> reading;
  std::vector<std::string> runs;
  std::string port = "0", address = "127.0.0.1";
  bool insecure = false;
};

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// The address as a browser on another machine, or on this one, writes it.
std::string shown_host(const std::string& address) {
  if (address == "0.0.0.0" || address == "::") return this_host();
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

Result<uint16_t> parse_port(const std::string& text) {
  const auto number = parse_integer(text);
  if (!number || *number < 0 || *number > UINT16_MAX) {
    return Error(fmt::format("view: '{}' is not a port; use a number from 0 to 65535", text));
  }
  return static_cast<uint16_t>(*number);
}

// Others on the network could read what is sent, the token included.
Status check_address(const ViewFlags& flags) {
  const auto loopback = is_loopback(flags.address);
  if (!loopback) {
    return Error(
        fmt::format("view: '{}' is not an address; use one like 127.0.0.1 or ::1", flags.address));
  }
  if (*loopback || flags.insecure) return {};
  return Error(
      fmt::format("view: others can read what is sent from {}: there is no TLS; use an ssh tunnel "
                  "to 127.0.0.1, or allow it with --insecure",
                  flags.address));
}

// Several arguments are the sides of a comparison, as `compare` and `report` read them; of one
// argument that means several runs, all are shown.
Result<std::vector<std::string>> paths_of(const ViewFlags& flags, const std::string& text) {
  if (flags.runs.size() > 1) return side_paths(flags.reading->home, text);
  const auto target = find_target(flags.reading->home, text);
  if (!target) return side_paths(flags.reading->home, text);
  if (target->group || parse_runs_by_name(text).is_pattern) return target->paths;
  return std::vector<std::string>{target->paths.back()};
}

// The ids of the runs that each argument means, each once. Those outside the home are named to the
// server.
using NamedIds = std::vector<std::vector<std::string>>;
Result<NamedIds> named_ids(const ViewFlags& flags, WebOptions& options) {
  NamedIds all;
  std::set<std::string> known;
  for (const std::string& text : flags.runs) {
    TS_TRY(const std::vector<std::string> paths, paths_of(flags, text));
    std::vector<std::string> ids;
    for (const std::string& each : paths) {
      const std::string path = absolute_run_path(each);
      const std::string id = list_run(path).manifest.id;
      if (id.empty())
        return Error(fmt::format("view: {} cannot be read; try: trainscope info {}", path, path));
      if (path.substr(0, path.rfind('/')) != options.home) options.named_runs[id] = path;
      if (known.insert(id).second) ids.push_back(id);
    }
    if (!ids.empty()) all.push_back(std::move(ids));
  }
  return all;
}

std::string joined(const std::vector<std::string>& ids, size_t from = 0) {
  std::string text;
  for (size_t i = from; i < ids.size(); ++i) text += (i > from ? "," : "") + ids[i];
  return text;
}

// "#/run/ID", "#/compare?a=ID&b=ID,ID&more=ID"; "" shows all runs.
std::string fragment_of(const NamedIds& sides) {
  if (sides.empty()) return "";
  const std::vector<std::string>& first = sides.front();
  if (sides.size() == 1) {
    if (first.size() == 1) return "#/run/" + first.front();
    return fmt::format("#/compare?a={}&b={}", first.front(), joined(first, 1));
  }
  std::string more;
  for (size_t i = 2; i < sides.size(); ++i) more += (i > 2 ? "," : "") + joined(sides[i]);
  return fmt::format("#/compare?a={}&b={}{}", joined(first), joined(sides[1]),
                     more.empty() ? "" : "&more=" + more);
}

// "CLIENT PORT SERVER PORT" as sshd sets it.
void print_tunnel(const std::string& address, uint16_t port) {
  const char* const connection = std::getenv("SSH_CONNECTION");
  if (connection == nullptr || !is_loopback(address).value_or(false)) return;
  const auto parts = fields(connection);
  const std::string host = parts.size() == 4 ? std::string(parts[2]) : this_host();
  const char* const user = std::getenv("USER");
  print_message("to open it on your own machine, run there first:\n");
  print_message("  ssh -N -L {}:{}:{} {}{}\n", port, shown_host(address), port,
                user == nullptr ? "" : fmt::format("{}@", user), host);
}

Result<int> view(const ViewFlags& flags) {
  TS_CHECK_OK(check_address(flags));
  WebOptions options;
  options.home = absolute_run_path(flags.reading->home);
  options.address = flags.address;
  TS_TRY(options.port, parse_port(flags.port));
  TS_TRY(const NamedIds sides, named_ids(flags, options));
  auto listened = listen_web(options);
  if (!listened) return std::move(listened).with_context("view").error();
  WebServer& server = **listened;
  const std::string url = fmt::format("http://{}:{}/?token={}{}", shown_host(flags.address),
                                      server.port(), server.token(), fragment_of(sides));
  if (flags.reading->json) {
    std::vector<std::string> ids;
    for (const auto& side : sides) ids.insert(ids.end(), side.begin(), side.end());
    print_json({{"schema", "trainscope.view/1"},
                {"url", url},
                {"address", flags.address},
                {"port", server.port()},
                {"token", server.token()},
                {"runs", ids}});
  } else {
    show("{}\n", url);
  }
  TS_CHECK_OK(flush_stdout());
  print_tunnel(flags.address, server.port());
  print_message("serving {}; press Ctrl-C to end\n", options.home);
  TS_CHECK_OK(server.serve());
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<ViewFlags>();
  flags->reading = add_reading_flags(options, settings, true);
  options.add({.name = "RUN",
               .value = "RUN",
               .help = "open this run; of several, compare the second with the first and draw the "
                       "others; repeats as A1,A2, 'NAME*' or repeat-ID (default: show all runs)",
               .repeats = true,
               .set = store_in(flags->runs)});
  options.add({.name = "--port",
               .value = "N",
               .help = "listen on this port (default: a free one)",
               .set = store_in(flags->port)});
  options.add({.name = "--listen",
               .value = "ADDR",
               .help = "listen on this address; other than loopback, it needs --insecure (default: "
                       "127.0.0.1)",
               .set = store_in(flags->address)});
  options.add({.name = "--insecure",
               .value = "",
               .help = "allow an address that others can reach, without encryption",
               .set = store_in(flags->insecure)});
  return [flags] { return view(*flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "view",
    .summary = "show runs in a web browser: print the address and serve until interrupted",
    .examples = R"(trainscope view
trainscope view latest
trainscope view baseline candidate
trainscope view --port 8080)",
    .add = add,
};

}  // namespace trainscope::view_command
