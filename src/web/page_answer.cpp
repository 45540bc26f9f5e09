#include "web/page_answer.h"

#include "base/crc32c.h"
#include "page/page.h"

namespace trainscope {

std::optional<WebAnswer> page_answer(std::string_view path, std::string_view known) {
  struct Served {
    std::string_view path, file, type;
  };
  static constexpr Served kServed[] = {
      {"/", "index.html", "text/html; charset=utf-8"},
      {"/assets/app.js", "app.js", "text/javascript; charset=utf-8"},
      {"/assets/app.css", "app.css", "text/css; charset=utf-8"},
  };
  for (const Served& served : kServed) {
    if (served.path != path) continue;
    const std::string_view text = find_page(served.file);
    WebAnswer page{200, std::string(served.type), std::string(text), {}};
    const std::string tag = "\"" + std::to_string(crc32c(text)) + "\"";
    page.headers.emplace_back("ETag", tag);
    page.headers.emplace_back("Cache-Control", "no-cache");
    if (known == tag) {
      page.status = 304;
      page.body.clear();
    }
    return page;
  }
  return std::nullopt;
}

}  // namespace trainscope
