#include "page/page.h"

namespace trainscope {

std::string_view find_page(std::string_view name) {
  for (const PageFile& file : page_files()) {
    if (file.name == name) return file.text;
  }
  return "";
}

}  // namespace trainscope
