#include "web/security.h"

#include <gtest/gtest.h>

#include <set>

#include "base/json.h"

namespace trainscope {
namespace security_test {

const std::string kToken = "0123456789abcdef0123456789abcdef";

Gate loopback_gate() { return {kToken, "127.0.0.1", 8080}; }

Visit visit_of(std::string_view target, std::string_view host = "127.0.0.1:8080") {
  return {"GET", target, {host}, "", "", ""};
}

// The status that the gate answers with; 0: the request is routed.
int status_of(const Gate& gate, const Visit& visit) {
  const Gate::Checked checked = gate.check(visit);
  return checked.answer ? checked.answer->status : 0;
}

std::string header(const WebAnswer& answer, const std::string& name) {
  for (const auto& [key, value] : answer.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST(WebSecurity, tokens_have_128_bits_and_differ) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const auto token = make_token();
    ASSERT_TRUE(token);
    EXPECT_EQ(token->size(), 32U);
    tokens.insert(*token);
  }
  EXPECT_EQ(tokens.size(), 100U);
  EXPECT_TRUE(equal_in_constant_time(kToken, kToken));
  EXPECT_FALSE(equal_in_constant_time(kToken, "0123456789abcdef0123456789abcdee"));
  EXPECT_FALSE(equal_in_constant_time(kToken, kToken.substr(1)));
  EXPECT_FALSE(equal_in_constant_time("", kToken));
}

TEST(WebSecurity, only_its_own_names_with_the_exact_port_are_answered) {
  const Gate gate = loopback_gate();
  const std::string target = "/api/runs?token=" + kToken;
  for (const std::string host :
       {"127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"}) {
    EXPECT_EQ(status_of(gate, visit_of(target, host)), 0) << host;
  }
  for (const std::string host :
       {"", "127.0.0.1", "localhost", "127.0.0.1:80", "127.0.0.1:80800", "evil.example:8080",
        "localhost.evil.example:8080", "127.0.0.1:8080.evil.example", "0.0.0.0:8080",
        "10.0.0.1:8080", "user@127.0.0.1:8080", " 127.0.0.1:8080"}) {
    EXPECT_EQ(status_of(gate, visit_of(target, host)), 403) << host;
    EXPECT_EQ(status_of(gate, visit_of("/", host)), 403) << host;
  }
  Visit two = visit_of(target);
  two.hosts.push_back("127.0.0.1:8080");
  EXPECT_EQ(status_of(gate, two), 403) << "two Host headers";
  two.hosts.clear();
  EXPECT_EQ(status_of(gate, two), 403) << "none";
}

TEST(WebSecurity, on_all_addresses_names_of_others_are_refused_still) {
  const Gate gate(kToken, "0.0.0.0", 8080);
  const std::string target = "/api/runs?token=" + kToken;
  EXPECT_EQ(status_of(gate, visit_of(target, "10.0.0.1:8080")), 0);
  EXPECT_EQ(status_of(gate, visit_of(target, "[fd00::1]:8080")), 0);
  EXPECT_EQ(status_of(gate, visit_of(target, "evil.example:8080")), 403);
  EXPECT_EQ(status_of(gate, visit_of(target, "10.0.0.1:80")), 403);
}

TEST(WebSecurity, names_are_as_browsers_write_them) {
  const std::string target = "/api/runs?token=" + kToken;
  const Gate elsewhere(kToken, "2001:0DB8:0::1", 8080);
  EXPECT_EQ(status_of(elsewhere, visit_of(target, "[2001:db8::1]:8080")), 0);
  EXPECT_EQ(status_of(elsewhere, visit_of(target, "[2001:db8::2]:8080")), 403);
  const Gate usual_port(kToken, "127.0.0.1", 80);
  EXPECT_EQ(status_of(usual_port, visit_of(target, "localhost")), 0);
  EXPECT_EQ(status_of(usual_port, visit_of(target, "127.0.0.1:80")), 0);
  EXPECT_EQ(status_of(usual_port, visit_of(target, "evil.example")), 403);
}

TEST(WebSecurity, only_get_and_head_are_answered) {
  const Gate gate = loopback_gate();
  const std::string target = "/api/runs?token=" + kToken;
  for (const std::string method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT",
                                   "get", "GETT", "PROPFIND", ""}) {
    Visit visit = visit_of(target);
    visit.method = method;
    const Gate::Checked checked = gate.check(visit);
    ASSERT_TRUE(checked.answer) << method;
    EXPECT_EQ(checked.answer->status, 405) << method;
    EXPECT_EQ(header(*checked.answer, "Allow"), "GET, HEAD");
  }
  Visit head = visit_of(target);
  head.method = "HEAD";
  EXPECT_EQ(status_of(gate, head), 0);
}

TEST(WebSecurity, data_needs_the_token_in_query_or_cookie) {
  const Gate gate = loopback_gate();
  EXPECT_EQ(status_of(gate, visit_of("/api/runs")), 401);
  EXPECT_EQ(status_of(gate, visit_of("/api/runs?token=")), 401);
  EXPECT_EQ(status_of(gate, visit_of("/api/runs?token=" + std::string(32, 'A'))), 401);
  EXPECT_EQ(status_of(gate, visit_of("/api")), 401);
  EXPECT_EQ(status_of(gate, visit_of("/api/no-such-page")), 401);
  Visit visit = visit_of("/api/runs");
  const std::string cookie = "trainscope-8080=" + kToken;
  visit.cookie = cookie;
  EXPECT_EQ(status_of(gate, visit), 0);
  const std::string among = "a=b; trainscope-8080=" + kToken + "; c";
  visit.cookie = among;
  EXPECT_EQ(status_of(gate, visit), 0);
  for (const std::string& other :
       {"trainscope-8081=" + kToken, "xtrainscope-8080=" + kToken, std::string("trainscope-8080"),
        "=" + kToken, "trainscope-8080=" + kToken + "0"}) {
    visit.cookie = other;
    EXPECT_EQ(status_of(gate, visit), 401) << other;
  }
  visit = visit_of("/api/runs?token=wrong");
  visit.cookie = cookie;
  EXPECT_EQ(status_of(gate, visit), 401) << "a wrong token is not mended by a cookie";
}

TEST(WebSecurity, the_page_needs_no_token) {
  EXPECT_EQ(status_of(loopback_gate(), visit_of("/")), 0);
  EXPECT_EQ(status_of(loopback_gate(), visit_of("/assets/app.js")), 0);
}

TEST(WebSecurity, the_first_visit_exchanges_the_token_for_a_cookie) {
  const Gate::Checked checked = loopback_gate().check(visit_of("/?token=" + kToken));
  ASSERT_TRUE(checked.answer);
  EXPECT_EQ(checked.answer->status, 303);
  EXPECT_EQ(header(*checked.answer, "Location"), "/") << "without the token";
  EXPECT_EQ(header(*checked.answer, "Set-Cookie"),
            "trainscope-8080=" + kToken + "; HttpOnly; SameSite=Strict; Path=/");
  const Gate::Checked wrong = loopback_gate().check(visit_of("/?token=wrong"));
  ASSERT_TRUE(wrong.answer);
  EXPECT_EQ(wrong.answer->status, 401);
  EXPECT_EQ(header(*wrong.answer, "Set-Cookie"), "");
}

TEST(WebSecurity, other_sites_are_refused) {
  const Gate gate = loopback_gate();
  const std::string target = "/api/runs?token=" + kToken;
  Visit visit = visit_of(target);
  visit.origin = "http://127.0.0.1:8080";
  EXPECT_EQ(status_of(gate, visit), 0);
  for (const std::string origin : {"http://evil.example", "null", "https://127.0.0.1:8080",
                                   "http://127.0.0.1:8081", "http://127.0.0.1:8080.evil.example"}) {
    visit.origin = origin;
    EXPECT_EQ(status_of(gate, visit), 403) << origin;
  }
  visit.origin = "";
  visit.fetch_site = "cross-site";
  EXPECT_EQ(status_of(gate, visit), 403);
  visit.fetch_site = "same-origin";
  EXPECT_EQ(status_of(gate, visit), 0);
}

TEST(WebSecurity, no_path_leads_out) {
  EXPECT_EQ(status_of(loopback_gate(), visit_of("/../../etc/passwd")), 404);
  EXPECT_EQ(status_of(loopback_gate(), visit_of("/%2e%2e/etc/passwd")), 404);
  EXPECT_EQ(status_of(loopback_gate(), visit_of("/?a=%")), 400);
  EXPECT_EQ(status_of(loopback_gate(), visit_of("http://127.0.0.1:8080/")), 400);
}

TEST(WebSecurity, nothing_from_elsewhere_may_be_loaded) {
  std::string policy;
  for (const auto& [name, value] : security_headers()) {
    EXPECT_FALSE(name.starts_with("Access-Control")) << name;
    if (name == "Content-Security-Policy") policy = value;
  }
  EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
}

}  // namespace security_test
}  // namespace trainscope
