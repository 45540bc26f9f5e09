#include "gpu/support/nvidia_gpu.h"

#include <array>

namespace trainscope {

namespace {

class NvidiaGpu : public NvidiaColumns {
 public:
  NvidiaGpu(const nvml::Library& library, XidWatch& xids, const NvidiaPlace& place)
      : NvidiaColumns(library, place.device), xids_(xids) {
    label = place.label;
    name = text_of(library.name);
    uuid = text_of(library.uuid);
    if (uuid.empty()) uuid = "nvidia-" + place.label;
    add_nvidia_sensors(*this);
    add_nvidia_activity(*this, place);
    if (!place.instance) xids_.add(place.device);
  }

  std::vector<std::string> take_events() override { return xids_.take(device()); }

 private:
  std::string text_of(nvml::Return (*call)(nvml::Device, char*, unsigned)) const {
    std::array<char, 96> text{};
    if (call == nullptr || call(device(), text.data(), text.size() - 1) != nvml::kSuccess)
      return "";
    return text.data();
  }

  XidWatch& xids_;
};

}  // namespace

std::unique_ptr<Gpu> open_nvidia_gpu(const nvml::Library& library, XidWatch& xids,
                                     const NvidiaPlace& place) {
  return std::make_unique<NvidiaGpu>(library, xids, place);
}

}  // namespace trainscope
