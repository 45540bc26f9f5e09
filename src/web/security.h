// Who is answered: the check of every request before it is routed.
//
// Guarantees: a request is answered only if its Host is an address of this server with its exact
// port (a page of another site cannot reach it by a name that it controls), if its method is GET or
// HEAD, and, for data, if it has the token. The token never appears in a log, an argument or a
// Referer; comparing it takes the same time whatever is given. Limits: no TLS: on an address other
// than loopback others can read what is sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "web/answer.h"
#include "web/request.h"

namespace trainscope {

// 128 random bits of the kernel as 32 hexadecimal digits.
Result<std::string> make_token();
bool equal_in_constant_time(std::string_view a, std::string_view b);

// What the check needs of a request.
struct Visit {
  std::string_view method, target;
  std::vector<std::string_view> hosts;  // every Host header
  std::string_view cookie, origin, fetch_site;
};

class Gate {
 public:
  // `listened_on` is a literal.
  Gate(std::string token, const std::string& listened_on, uint16_t port);

  const std::string& token() const { return token_; }
  // The target of a request that may be routed; otherwise what to answer.
  struct Checked {
    WebTarget target;
    std::optional<WebAnswer> answer;
  };
  Checked check(const Visit& visit) const;

 private:
  bool is_own_host(std::string_view host) const;
  bool has_token(const Visit& visit, const WebTarget& target) const;

  std::string token_;
  uint16_t port_;
  bool is_any_address_ = false;     // listens on all addresses of the machine
  std::vector<std::string> hosts_;  // with port
};

// Headers of every answer.
const std::vector<std::pair<std::string_view, std::string_view>>& security_headers();

}  // namespace trainscope
