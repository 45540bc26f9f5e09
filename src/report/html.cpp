// The HTML file: the page of the browser's client with text and data in its places.
#include <array>
#include <utility>

#include "base/json.h"
#include "page/page.h"
#include "report/data.h"
#include "report/pack.h"
#include "report/picture/markup.h"
#include "report/report.h"
#include "report/static_page.h"

namespace trainscope {

Result<std::string> html_report(const ReportContent& content) {
  TS_TRY(const Json data, report_data(content));
  const std::array<std::pair<std::string_view, std::string>, 3> places = {
      {{"<!--trainscope-title-->", escaped(report_title(content))},
       {"<!--trainscope-static-->", static_page(content)},
       {"<!--trainscope-data-->", "<script type=\"application/json\" id=\"trainscope-report\">" +
                                      json_for_html(data) + "</script>"}}};
  // The places of the page itself: text that is put into it is not searched.
  std::string out;
  std::string_view rest = find_page("report.html");
  for (const auto& [place, text] : places) {
    const size_t at = rest.find(place);
    if (at == std::string_view::npos) {
      return Error("this program was built without the page of reports (web/dist/report.html)");
    }
    out += rest.substr(0, at);
    out += text;
    rest.remove_prefix(at + place.size());
  }
  out += rest;
  return out;
}

}  // namespace trainscope
