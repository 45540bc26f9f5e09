// PCI addresses that have a meaning by themselves.
#pragma once

#include <string_view>

namespace trainscope {

// The graphics of an Intel processor has this place on every one of them. The class of the device
// does not distinguish it from a card: Arc cards are VGA controllers too.
inline bool is_intel_processor_graphics(std::string_view pci_address) {
  return pci_address.starts_with("0000:00:02.");
}

}  // namespace trainscope
