// The target of a request, as a browser or anybody else sends it, and the values in it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "web/request.h"
#include "web/security.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto target = parse_target(text)) {
    CHECK(target->path.starts_with('/') && target->path.find("..") == std::string::npos);
    CHECK(target->query.size() <= kMostParameters);
    for (const auto& [name, value] : target->query) {
      (void)parse_query_number(value);
      (void)parse_query_count(value);
      (void)parse_query_counts(value, 64);
      if (const auto ids = parse_run_ids(value, 64)) {
        for (const std::string& id : *ids) CHECK(id.find_first_of("/.%") == std::string::npos);
      }
    }
  }
  // Whatever is sent as target, cookie or Host: no data without the token.
  const Gate gate("0123456789abcdef0123456789abcdef", "127.0.0.1", 8080);
  const auto checked = gate.check({"GET", text, {"127.0.0.1:8080"}, text, "", ""});
  const bool has_token =  // or may have, encoded
      text.find(gate.token()) != text.npos || text.find('%') != text.npos;
  CHECK(checked.answer || has_token || !checked.target.path.starts_with("/api"));
  CHECK(gate.check({"GET", "/", {text}, "", "", ""}).answer || text.ends_with(":8080"));
  return 0;
}
