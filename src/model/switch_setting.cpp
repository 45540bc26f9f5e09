#include "model/switch_setting.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace trainscope {

bool means_on(std::string_view text) {
  const std::string value = lower(text);
  return value == "true" || value == "1" || value == "yes" || value == "on";
}

bool is_on(const Manifest& manifest, std::string_view setting) {
  return std::any_of(manifest.settings.begin(), manifest.settings.end(), [&](const Setting& each) {
    return each.name == setting && means_on(each.value);
  });
}

}  // namespace trainscope
