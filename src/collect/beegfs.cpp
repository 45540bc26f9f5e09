// beegfs: connections of this client to the servers of every BeeGFS file system.
//
// Source: /proc/fs/beegfs/CLIENT/meta_nodes and storage_nodes. Units: connections. Permission:
// none. Cost: 20 µs per file system, every 5 s on its own thread (the client takes its locks).
// Caveats: the client module reports nothing else: only the servers count bytes and operations (the
// job's own are in job.io.bytes). Connections are opened on demand and dropped when idle. TCP
// instead of the intended RDMA deserves attention.
#include <algorithm>
#include <array>

#include "base/clock.h"
#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/folder_watch.h"
#include "kernel/proc_file.h"

namespace trainscope::beegfs_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"beegfs.connections", "{connection}", Kind::gauge, "client, node, role, transport",
     "Open connections to a server"},
};

constexpr const char* kFolder = "/proc/fs/beegfs";
constexpr size_t kMaxBytes = 256 * 1024;
constexpr std::array<const char*, 2> kTransports = {"RDMA", "TCP"};
struct Role {
  const char* name;
  const char* file;
};
constexpr std::array<Role, 2> kRoles = {{{"meta", "meta_nodes"}, {"storage", "storage_nodes"}}};

// A node's line is "NAME [ID: 3]"; the lines about it are indented.
std::string_view node_of(std::string_view line) {
  const size_t end = line.find(" [ID: ");
  if (line.starts_with(' ') || end == std::string_view::npos) return {};
  return line.substr(0, end);
}

// 4 of "   Connections: RDMA: 4 (10.0.0.1:8003); "; 0 of "Connections: <none>"; false elsewhere.
bool connections_of(std::string_view line, std::string_view transport, int64_t& count) {
  Scanner scan(line);
  scan.skip_blanks();
  if (!scan.take("Connections:")) return false;
  count = 0;
  const std::string_view rest = scan.rest();
  const size_t at = rest.find(std::string(transport) + ": ");
  if (at == std::string_view::npos) return true;
  Scanner number(rest.substr(at + transport.size() + 2));
  return number.number(count);
}

struct NodesFile {
  std::string client, role;
  ProcFile file;
  std::vector<std::string> nodes;
  size_t column = 0;
};

class BeegfsSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    files_.clear();
    const std::string folder = context.root + kFolder;
    watch_.open(folder);
    Opened opened;
    for (const std::string& client : names_in(folder)) {
      for (const Role& role : kRoles) {
        NodesFile nodes;
        nodes.client = client;
        nodes.role = role.name;
        if (!nodes.file.open(folder + "/" + client + "/" + role.file, kMaxBytes)) continue;
        add_columns(opened, nodes);
        files_.push_back(std::move(nodes));
      }
    }
    if (opened.columns.empty()) {
      return all_missing(kMetrics, "no BeeGFS file system is mounted here", "");
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    bool changed = false;
    for (NodesFile& file : files_) changed |= !sample_file(file, values);
    return changed || watch_.changed() ? Sampled::layout_changed : Sampled::ok;
  }

 private:
  static void add_columns(Opened& opened, NodesFile& nodes) {
    nodes.column = opened.columns.size();
    Scanner scan(nodes.file.read_all());
    while (!scan.done()) {
      const std::string_view name = node_of(scan.line());
      const std::string node(name);
      if (name.empty() ||
          std::find(nodes.nodes.begin(), nodes.nodes.end(), node) != nodes.nodes.end()) {
        continue;
      }
      for (const char* transport : kTransports) {
        opened.columns.push_back({"beegfs.connections",
                                  {{"client", label_value(nodes.client)},
                                   {"node", label_value(node)},
                                   {"role", nodes.role},
                                   {"transport", transport}},
                                  {}});
      }
      nodes.nodes.push_back(node);
    }
  }

  // False when there is a node that was not there.
  static bool sample_file(NodesFile& nodes, std::span<int64_t> values) {
    const auto part = values.subspan(nodes.column, nodes.nodes.size() * kTransports.size());
    std::fill(part.begin(), part.end(), kAbsent);
    Scanner scan(nodes.file.read_all());
    size_t at = nodes.nodes.size();
    bool known = true;
    while (!scan.done()) {
      const std::string_view line = scan.line();
      if (const std::string_view name = node_of(line); !name.empty()) {
        at = static_cast<size_t>(std::find(nodes.nodes.begin(), nodes.nodes.end(), name) -
                                 nodes.nodes.begin());
        known = known && at < nodes.nodes.size();
      }
      if (at >= nodes.nodes.size()) continue;
      for (size_t i = 0; i < kTransports.size(); ++i) {
        connections_of(line, kTransports[i], part[at * kTransports.size() + i]);
      }
    }
    return known;
  }

  std::vector<NodesFile> files_;
  FolderWatch watch_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "beegfs",
    .summary = "connections of this client to BeeGFS servers",
    .needs = "a mounted BeeGFS file system",
    .scope = Scope::machine,
    .pace = Pace::thread,
    .period_ns = 5 * kNsPerSecond,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<BeegfsSource>()); },
};

}  // namespace trainscope::beegfs_collector
