// `trainscope view`: a web server for the runs of a home, for their owner alone (docs/web-api.md,
// docs/adr/0021).
//
// Guarantees: it answers only who knows the token and names it by an address of its own; it changes
// nothing, starts nothing and takes no path from a browser. A run that cannot be read, or a disk
// that hangs, delays only who asks for it. Memory is bounded whatever is asked. Limits: no TLS.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace trainscope {

struct WebOptions {
  std::string home;                   // absolute
  std::string address = "127.0.0.1";  // a literal
  uint16_t port = 0;                  // 0: a free one
  // Runs outside the home that were named on the command line: their folders by id.
  std::map<std::string, std::string> named_runs;
};

class WebServer {
 public:
  virtual ~WebServer() = default;
  virtual uint16_t port() const = 0;
  virtual const std::string& token() const = 0;
  // Until SIGINT or SIGTERM.
  virtual Status serve() = 0;
};

// Listens; nothing is answered before serve().
Result<std::unique_ptr<WebServer>> listen_web(const WebOptions& options);

// Is this literal one that only this machine can connect to? Nothing if it is not an address.
std::optional<bool> is_loopback(const std::string& address);

}  // namespace trainscope
