#include "web/security.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "web/web.h"

namespace trainscope {

namespace {

constexpr size_t kTokenBytes = 16;
constexpr std::string_view kApi = "/api/";

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// An address in the form that a Host header has.
std::string bracketed(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

bool is_address_literal(std::string_view text) {
  std::string address(text);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1;
}

// As a browser writes it: "2001:db8::1" for "2001:0DB8::1".
std::string canonical(const std::string& address) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  const char* const written = ::inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return written == nullptr ? address : written;
}

// The value of a cookie of this name; "" if there is none.
std::string_view cookie_value(std::string_view cookies, std::string_view name) {
  for (std::string_view each : split(cookies, ';')) {
    each = trim(each);
    if (each.size() > name.size() && each.starts_with(name) && each[name.size()] == '=') {
      return each.substr(name.size() + 1);
    }
  }
  return "";
}

}  // namespace

Result<std::string> make_token() {
  std::array<unsigned char, kTokenBytes> bytes{};
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t n = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error::from_errno("cannot get random bits", errno);
    filled += static_cast<size_t>(n);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    different |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return different == 0;
}

Gate::Gate(std::string token, const std::string& listened_on, uint16_t port)
    : token_(std::move(token)), port_(port) {
  constexpr uint16_t kUsualPort = 80;  // browsers leave it out
  const std::string address = canonical(listened_on);
  std::vector<std::string> names = {"localhost", "127.0.0.1", "[::1]", bracketed(address)};
  if (!is_loopback(address).value_or(false)) names.push_back(lower(host_name()));
  is_any_address_ = address == "0.0.0.0" || address == "::";
  for (const std::string& name : names) {
    hosts_.push_back(fmt::format("{}:{}", name, port));
    if (port == kUsualPort) hosts_.push_back(name);
  }
}

bool Gate::is_own_host(std::string_view host) const {
  const std::string given = lower(host);
  if (std::find(hosts_.begin(), hosts_.end(), given) != hosts_.end()) return true;
  // Only names can be pointed at this machine by others, not addresses.
  const std::string suffix = fmt::format(":{}", port_);
  return is_any_address_ && given.ends_with(suffix) &&
         is_address_literal(std::string_view(given).substr(0, given.size() - suffix.size()));
}

bool Gate::has_token(const Visit& visit, const WebTarget& target) const {
  const std::string* const in_query = target.find("token");
  if (in_query != nullptr) return equal_in_constant_time(*in_query, token_);
  const std::string name = fmt::format("trainscope-{}", port_);
  return equal_in_constant_time(cookie_value(visit.cookie, name), token_);
}

Gate::Checked Gate::check(const Visit& visit) const {
  const auto refuse = [](int status, std::string_view sentence) {
    return Checked{{}, refusal(status, sentence)};
  };
  if (visit.hosts.size() != 1 || !is_own_host(visit.hosts.front())) {
    return refuse(403,
                  "this server does not answer under that name; use the address that "
                  "`trainscope view` printed");
  }
  const std::string origin = fmt::format("http://{}", lower(visit.hosts.front()));
  if (!visit.origin.empty() && lower(visit.origin) != origin) {
    return refuse(403, "requests of other sites are refused");
  }
  if (visit.method != "GET" && visit.method != "HEAD") {
    Checked checked = refuse(405, "only GET and HEAD are answered");
    checked.answer->headers.emplace_back("Allow", "GET, HEAD");
    return checked;
  }
  auto target = parse_target(visit.target);
  if (!target) {
    const bool is_no_page = target.error().error_number() == ENOENT;
    return refuse(is_no_page ? 404 : 400, target.error().message());
  }
  const bool is_api = target->path.starts_with(kApi) || target->path == "/api";
  const bool is_entry = target->path == "/" && target->find("token") != nullptr;
  if (is_api && visit.fetch_site == "cross-site") {
    return refuse(403, "requests of other sites are refused");
  }
  if ((is_api || is_entry) && !has_token(visit, *target)) {
    return refuse(401,
                  "the token is missing or wrong; open the address that `trainscope view` "
                  "printed");
  }
  Checked checked{std::move(*target), std::nullopt};
  if (is_entry) {
    checked.answer = WebAnswer{303, "text/plain", "", {}};
    checked.answer->headers.emplace_back("Location", "/");
    checked.answer->headers.emplace_back(
        "Set-Cookie",
        fmt::format("trainscope-{}={}; HttpOnly; SameSite=Strict; Path=/", port_, token_));
  }
  return checked;
}

const std::vector<std::pair<std::string_view, std::string_view>>& security_headers() {
  static const std::vector<std::pair<std::string_view, std::string_view>> kHeaders = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
       "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
  return kHeaders;
}

}  // namespace trainscope
