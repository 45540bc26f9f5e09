// The files of the web page (web/dist), carried inside the program: nothing is installed beside it.
#pragma once

#include <span>
#include <string_view>

namespace trainscope {

struct PageFile {
  std::string_view name;  // index.html, app.js, app.css, report.html
  std::string_view text;
};
std::span<const PageFile> page_files();

// Empty if the program was built without it.
std::string_view find_page(std::string_view name);

}  // namespace trainscope
